export class FakeQueue<J> {
  readonly jobs: J[] = [];
  work: (job: J) => Promise<unknown> = async () => {};
  waitMs = 10_000;

  async enqueueNow(job: J): Promise<void> {
    this.jobs.push(job);
    await this.work(job);
  }

  /** Forgets the jobs, and resets the time that calls wait for workers. */
  reset(): void {
    this.jobs.length = 0;
    this.waitMs = 10_000;
  }
}
