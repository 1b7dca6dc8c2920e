export class FakeQueue<J> {
  readonly jobs: J[] = [];
  work: (job: J) => Promise<unknown> = async () => {};
  waitMs = 10_000;

  async enqueueNow(job: J): Promise<void> {
    this.jobs.push(job);
    await this.work(job);
  }

  /** Forgets the jobs, and waits for workers as long as at first. */
  reset(): void {
    this.jobs.length = 0;
    this.waitMs = 10_000;
  }
}
