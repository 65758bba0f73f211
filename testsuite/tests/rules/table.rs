//! The table of rules itself.
