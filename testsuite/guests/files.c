/* Files and directories below the folder given as argument. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#define SAY(call)                                                  \
    do {                                                           \
        errno = 0;                                                 \
        long result = (long)(call);                                \
        printf("%s = %ld %s\n", #call, result, errno ? strerror(errno) : ""); \
    } while (0)

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static void list(const char *path) {
    struct dirent **names;
    int n = scandir(path, &names, NULL, by_name);
    printf("%s:", path);
    for (int i = 0; i < n; i++) printf(" %s(%d)", names[i]->d_name, names[i]->d_type);
    puts("");
}

int main(int argc, char **argv) {
    if (argc < 2 || chdir(argv[1])) {
        perror("chdir");
        return 1;
    }
    char cwd[4096];
    printf("cwd ends well: %d\n", strstr(getcwd(cwd, sizeof cwd), argv[1]) != NULL);
    FILE *f = fopen("a.txt", "w+");
    for (int i = 0; i < 1000; i++) fprintf(f, "line %d\n", i);
    fseek(f, 100, SEEK_SET);
    char text[64];
    fgets(text, sizeof text, f);
    fgets(text, sizeof text, f);
    printf("%s%ld\n", text, ftell(f));
    fclose(f);

    struct stat s;
    SAY(stat("a.txt", &s));
    printf("size %ld mode %o links %d blocks %d\n", (long)s.st_size, s.st_mode, (int)s.st_nlink, s.st_blocks > 0);
    SAY(lstat("missing", &s));
    SAY(mkdir("sub", 0755));
    SAY(mkdir("sub", 0755));
    SAY(rename("a.txt", "sub/b.txt"));
    SAY(symlink("sub/b.txt", "link"));
    ssize_t n = readlink("link", text, sizeof text);
    printf("link %zd %.*s\n", n, (int)n, text);
    SAY(link("sub/b.txt", "sub/c.txt"));
    list(".");
    list("sub");
    SAY(access("link", R_OK | W_OK));
    SAY(access("sub/b.txt", X_OK));

    int fd = open("link", O_RDWR | O_APPEND);
    SAY(write(fd, "end\n", 4));
    SAY(lseek(fd, 0, SEEK_CUR));
    SAY(pwrite(fd, "HEAD", 4, 0));
    SAY(lseek(fd, -4, SEEK_END));
    SAY(ftruncate(fd, 20));
    SAY(lseek(fd, 0, SEEK_END));
    SAY(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND));
    struct iovec parts[2] = {{text, 3}, {text + 10, 5}};
    memset(text, '.', sizeof text);
    SAY(preadv(fd, parts, 2, 2));
    printf("%.20s\n", text);
    SAY(read(fd, (void *)1, 10));
    SAY(read(fd, (void *)1, 0));
    SAY(write(99, "x", 1));
    SAY(fstat(99, &s));
    int dup_fd = dup(fd);
    SAY(lseek(fd, 5, SEEK_SET));
    SAY(lseek(dup_fd, 0, SEEK_CUR));
    SAY(close(dup_fd));
    SAY(close(dup_fd));
    SAY(dup2(fd, 20));
    SAY(fcntl(20, F_GETFD));
    SAY(fcntl(20, F_DUPFD_CLOEXEC, 30));
    SAY(fcntl(30, F_GETFD));

    SAY(ftruncate(fd, 8192));
    char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    printf("mapped %.4s\n", map);
    memcpy(map + 4096, "shared", 6);
    SAY(msync(map, 8192, MS_SYNC));
    SAY(pread(fd, text, 6, 4096));
    printf("%.6s\n", text);
    memcpy(map + 100, "live", 4);
    SAY(pread(fd, text, 4, 100));
    printf("%.4s\n", text);
    fcntl(fd, F_SETFL, 0);
    SAY(pwrite(fd, "back", 4, 200));
    printf("%.4s %.4s\n", map + 200, map + 100);
    memcpy(map, "again", 5);
    SAY(munmap(map, 8192));
    SAY(pread(fd, text, 5, 0));
    printf("%.5s\n", text);
    map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 4096);
    printf("private %.6s\n", map);
    map[0] = 'S';
    SAY(pread(fd, text, 6, 4096));
    printf("%.6s %.6s\n", text, map);
    close(fd);

    int ends[2];
    SAY(pipe(ends));
    SAY(write(ends[1], "through", 7));
    struct pollfd polls[2] = {{ends[0], POLLIN, 0}, {ends[1], POLLOUT, 0}};
    SAY(poll(polls, 2, -1));
    printf("%d %d\n", polls[0].revents, polls[1].revents);
    SAY(read(ends[0], text, 20));
    polls[0].revents = 0;
    SAY(poll(polls, 1, 5));
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[1], &set);
    struct timeval tv = {1, 0};
    SAY(select(ends[1] + 1, NULL, &set, NULL, &tv));
    close(ends[1]);
    SAY(read(ends[0], text, 20));
    SAY(lseek(ends[0], 0, SEEK_SET));

    SAY(rmdir("sub"));
    SAY(unlink("sub/b.txt"));
    SAY(unlink("sub/c.txt"));
    SAY(rmdir("sub"));
    SAY(open("link", O_RDONLY) < 0);
    SAY(unlink("link"));
    SAY(open(".", O_RDWR) < 0);
    SAY(open("", O_RDONLY) < 0);
    SAY(open("x", O_WRONLY | O_CREAT | O_EXCL, 0600) < 0);
    SAY(open("x", O_WRONLY | O_CREAT | O_EXCL, 0600) < 0);
    SAY(stat("x", &s));
    printf("mode %o\n", s.st_mode);
    SAY(unlink("x"));
    list(".");
    char name[] = "tmpXXXXXX";
    fd = mkstemp(name);
    SAY(fd >= 0);
    SAY(unlink(name));
    SAY(posix_fadvise(fd, 0, 0, 3));
    SAY(posix_fadvise(fd, 0, 0, 6));
    SAY(posix_fadvise(ends[0], 0, 0, 0));
    FD_ZERO(&set);
    tv = (struct timeval){0, 2000};
    SAY(select(0, NULL, &set, NULL, &tv));
    SAY(tv.tv_sec + tv.tv_usec);
    SAY(mkdir("gone", 0700) + chdir("gone") + rmdir("../gone"));
    SAY(getcwd(text, sizeof text) == NULL);
    struct itimerval old, odd = {.it_interval = {10, 0}};
    SAY(setitimer(ITIMER_PROF, &odd, NULL));
    SAY(getitimer(ITIMER_PROF, &old));
    SAY(old.it_interval.tv_sec);
    int null = open("/dev/null", O_RDWR);
    SAY(write(null, "x", 1));
    SAY(read(null, text, 1));
    return 0;
}
