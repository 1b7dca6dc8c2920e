// Makes domains due for a delegation check, more often than the schedule, and evaluates the verdicts of all checks.

import { sql } from 'kysely';
import type { Fleet } from './fleet.ts';
import type { SoakDomain } from './fleet-state.ts';
import type { Journal } from './journal.ts';

/** Verdicts that a check may have while the parent delegates the domain to the fleet. */
const ALLOWED = ['match', 'unknown'];

export class Delegations {
  readonly #fleet: Fleet;
  readonly #names: readonly string[];
  readonly #journal: Journal;
  #reported = new Set<string>();
  /** Number of checks by verdict, in the whole run. */
  counts: Readonly<Record<string, number>> = {};

  constructor(fleet: Fleet, domains: readonly SoakDomain[], journal: Journal) {
    this.#fleet = fleet;
    this.#names = domains.map(({ label }) => `${label}.zz`);
    this.#journal = journal;
  }

  async makeDue(count: number): Promise<void> {
    const some = Array.from(
      { length: count },
      () => this.#names[Math.floor(Math.random() * this.#names.length)],
    );
    await sql`
      update domain_checks set due_at = now(), next_at = now()
      where domain_id in (select id from domains where unicode = any(${some}::text[]))`.execute(
      this.#fleet.db,
    );
  }

  async evaluate(): Promise<void> {
    const { db } = this.#fleet;
    const { rows } = await sql<{ unicode: string; verdict: string; count: number }>`
      select d.unicode, r.verdict, sum(1 + r.repeated)::integer as count
      from check_runs r join domains d on d.id = r.domain_id
      where r.status_after = 'active' and d.unicode = any(${this.#names}::text[])
      group by 1, 2`.execute(db);
    const counts: Record<string, number> = {};
    for (const { unicode, verdict, count } of rows) {
      counts[verdict] = (counts[verdict] ?? 0) + count;
      if (!ALLOWED.includes(verdict)) this.#report(`${unicode}: ${verdict}`);
    }
    this.counts = counts;
    const inactive = await sql<{ unicode: string; status: string }>`
      select unicode, status from domains
      where status <> 'active' and deleted_at is null and unicode = any(${this.#names}::text[])`.execute(db);
    for (const { unicode, status } of inactive.rows) this.#report(`${unicode} is ${status}`);
  }

  #report(text: string): void {
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    this.#journal.event('misjudged', text);
  }
}
