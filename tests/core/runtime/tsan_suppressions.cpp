/// What the thread sanitizer must not report: libzmq is not instrumented, so memory that it passes
/// between its own threads looks unordered.
extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
  return "race:libzmq.so\n";
}
