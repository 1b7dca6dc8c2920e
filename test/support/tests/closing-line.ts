// Ends the output of `npm test` with one plain line that .ci/run adds up, preceded by tests that passed only when repeated.
// It is written when the process exits, so that nothing follows it. A file that cannot be loaded and an error outside of
// tests each count as a failed test.

import type { Reporter, TestModule } from 'vitest/node';

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const flaky: string[] = [];
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) counts.failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === 'pending' ? 'skipped' : state]++;
        if (test.diagnostic()?.flaky) flaky.push(`flaky: ${module.relativeModuleId} > ${test.fullName}\n`);
      }
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed++;
    }
    process.once('exit', () => {
      process.stdout.write(
        `${flaky.join('')}${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
      );
    });
  }
}
