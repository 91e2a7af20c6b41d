// What the thread sanitizer cannot see, because Debian builds libzmq and TBB without it. None of
// these hides what our own code does. Linked into every test program; means nothing without the
// sanitizer.

extern "C" const char* __tsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return
      // libzmq frees its queues in a thread of its own
      "race:libzmq.so\n"
      // TBB hands the parts of a loop from thread to thread
      "called_from_lib:libtbb.so\n"
      "race_top:oneapi/tbb/\n"
      "race_top:parallel_loop.cpp\n"
      "race_top:std::atomic<tbb::\n"
      "race_top:std::__atomic_base<*>::__atomic_base\n"
      "race:fold_tree\n"
      "race:offer_work\n"
      "race:mark_task_stolen\n";
}
