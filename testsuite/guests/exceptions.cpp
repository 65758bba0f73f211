// Exceptions, iostreams, containers, run-time types, thread-local and static objects.
#include <algorithm>
#include <chrono>
#include <complex>
#include <exception>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <vector>

struct Loud {
    std::string name;
    explicit Loud(std::string n) : name(std::move(n)) { std::cout << "+" << name << "\n"; }
    ~Loud() { std::cout << "-" << name << "\n"; }
};

struct Base {
    virtual ~Base() = default;
    virtual int value() const { return 1; }
};
struct Left : virtual Base {
    int value() const override { return 2; }
};
struct Right : virtual Base {};
struct Both : Left, Right {};

static int depth(int n) {
    Loud loud("level" + std::to_string(n));
    if (n == 3) throw std::out_of_range("deep enough");
    return depth(n + 1);
}

static void rethrow() {
    try {
        depth(1);
    } catch (const std::exception &e) {
        std::throw_with_nested(std::runtime_error("outer"));
    }
}

thread_local int local = 5;
static Loud at_exit("static");

int main() {
    std::ios::sync_with_stdio(false);
    try {
        rethrow();
    } catch (const std::exception &e) {
        std::cout << "caught " << e.what();
        try {
            std::rethrow_if_nested(e);
        } catch (const std::exception &inner) {
            std::cout << " because " << inner.what() << "\n";
        }
    }
    try {
        std::vector<int>().at(3);
    } catch (const std::out_of_range &) {
        std::cout << "at\n";
    }
    try {
        void *p = ::operator new(static_cast<size_t>(1) << 46);
        std::cout << "allocated " << p << "\n";
    } catch (const std::bad_alloc &e) {
        std::cout << e.what() << "\n";
    }
    int caught = 0;
    for (int i = 0; i < 1000; i++) {
        try {
            if (i % 3 == 0) throw i;
            if (i % 3 == 1) throw static_cast<double>(i);
            throw std::to_string(i);
        } catch (int n) {
            caught += n;
        } catch (double d) {
            caught += static_cast<int>(d) / 2;
        } catch (...) {
            caught++;
        }
    }
    std::cout << "sum " << caught << "\n";

    Both both;
    Base *base = &both;
    std::cout << base->value() << " " << (dynamic_cast<Right *>(base) != nullptr) << " " << typeid(*base).name() << "\n";
    try {
        Base plain;
        dynamic_cast<Left &>(plain).value();
    } catch (const std::bad_cast &e) {
        std::cout << e.what() << "\n";
    }

    std::map<std::string, int> words;
    std::istringstream text("the quick brown fox jumps over the lazy dog the end");
    for (std::string word; text >> word;) words[word]++;
    for (const auto &[word, n] : words) std::cout << word << "=" << n << " ";
    std::cout << "\n";
    std::cout << std::setprecision(12) << std::fixed << 1.0 / 3 << " " << std::scientific << 12345.678 << " "
              << std::hexfloat << 0.1 << std::defaultfloat << " " << std::hex << std::showbase << 255 << std::dec
              << " " << std::setw(8) << std::setfill('*') << 42 << "\n";
    std::mt19937_64 generator(42);
    std::vector<double> values(2000);
    std::normal_distribution<double> normal(0, 1);
    for (auto &v : values) v = normal(generator);
    std::sort(values.begin(), values.end(), std::greater<>());
    std::cout << values.front() << " " << std::accumulate(values.begin(), values.end(), 0.0) << "\n";
    std::unordered_map<int, std::vector<int>> buckets;
    for (int i = 0; i < 5000; i++) buckets[i % 37].push_back(i);
    std::cout << buckets.size() << " " << buckets[5].back() << " " << std::pow(std::complex<double>(1, 2), 3) << "\n";
    auto begin = std::chrono::steady_clock::now();
    local += 2;
    std::cout << "time " << (std::chrono::steady_clock::now() >= begin) << " local " << local << "\n";
    std::string line;
    int lines = 0;
    while (std::getline(std::cin, line)) lines++;
    std::cout << "lines " << lines << std::endl;
    std::function<int(int)> fibonacci = [&](int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); };
    return fibonacci(10);
}
