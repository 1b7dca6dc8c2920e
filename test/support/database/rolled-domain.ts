// A domain whose keys are rolled by the workers' job. Postgres is real, and its clock is set ahead only for the job.
// The test controls parent, node and nameservers.

import { sql } from 'kysely';
import { expect } from 'vitest';
import { type DsEvidence, dsText } from '../../../src/checks/dnssec/ds-evidence.ts';
import type { Machine } from '../../../src/checks/dnssec/machine.ts';
import type { PreflightEvidence } from '../../../src/checks/dnssec/preflight.ts';
import { DAY_MS, RULES } from '../../../src/checks/dnssec/rules.ts';
import type { TheirEvidence } from '../../../src/checks/dnssec/their-keys.ts';
import { parseName } from '../../../src/dns/name.ts';
import { loadDnssec } from '../../../src/store/dnssec/dnssec-state.ts';
import { EPOCH_SQL } from '../../../src/store/feed/change-feed.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../../src/store/postgres/deadlines.ts';
import { createKeyRoller, type KeyOutcome, type KeyRollerOptions } from '../../../workers/jobs/roll-keys.ts';
import { dsRdata } from '../simulation/dnssec/made-keys.ts';
import { APEX } from '../zone/customer-records.ts';
import { asRole, createDatabase, type TestDatabase } from './database.ts';
import { expectPublished, newAccount, newDomain, published, saved } from './domains.ts';
import { checkOnce } from './saved-checks.ts';
import { signatureFaults, useSecrets } from './signed-zones.ts';

const HOUR_MS = 3_600_000;
const MATCH = 'referral ns1.example.net ns2.example.net';
const PARENT = parseName('com.');

type Saved = Extract<KeyOutcome, { kind: 'saved' }>;

export class RolledDomain {
  /** Lead of the machine's clock. */
  ahead = 0;
  /** The DS records that two addresses of the parent show. */
  shown: readonly string[] = [];
  /** True if the replies of the domain's nameservers validate. */
  isValid = true;
  /** The replies of another operator's servers. */
  theirs: TheirEvidence = { servers: [], failure: 'there are none' };
  timesAsked = 0;
  /** Replaced after a restore. */
  database: TestDatabase;
  /** With the role of workers, so that missing privileges cause errors. */
  #worker: Database | undefined;
  readonly domainId: number;

  private constructor(database: TestDatabase, domainId: number) {
    this.database = database;
    this.domainId = domainId;
  }

  static async create(given?: TestDatabase): Promise<RolledDomain> {
    const database = given ?? (await createDatabase());
    const { db } = database;
    useSecrets(db);
    const { id } = await newDomain(db, await newAccount(db, 'me@example.org'));
    await saved(db, id, ['www A 198.51.100.1']);
    await sql`
      insert into nodes (name, instance, started_at, loaded, zones, records, abilities, unserved)
      values ('ns1', gen_random_uuid(), clock_timestamp(), true, 0, 0, '{dnssec}', '{}')`.execute(db);
    const rolled = new RolledDomain(database, id);
    await rolled.nodesFollow();
    await checkOnce(db, id, MATCH);
    return rolled;
  }

  /** Simulates that the node has seen everything committed. */
  async nodesFollow(): Promise<void> {
    await sql`
      update nodes set snapshot = pg_current_snapshot(),
        seen_at = clock_timestamp() + make_interval(secs => ${this.ahead / 1000}::float8),
        epoch = (select ${sql.raw(EPOCH_SQL)} from feed)`.execute(this.database.db);
  }

  #seenDs(): DsEvidence {
    const ds = this.shown.map(dsRdata);
    const answer = { outcome: ds.length > 0 ? 'positive' : 'none', ds, ttl: 3600, error: undefined } as const;
    return {
      domain: APEX,
      parent: PARENT,
      answers: ['192.5.6.30', '192.33.14.30'].map((address) => ({ server: PARENT, address, ...answer })),
      parentIsSecure: true,
      observedAt: Date.now(),
    };
  }

  /** Returns the replies of servers that serve the present content of Postgres. */
  async #seenAnswers(ids: readonly string[]): Promise<PreflightEvidence> {
    const faults = await signatureFaults(this.database.db, APEX);
    const lines = (await published(this.database.db)) ?? [];
    const isWhole = this.isValid && faults.length === 0 && lines.some((line) => / DNSKEY /.test(line));
    const server = {
      server: parseName('ns1.example.net.'),
      address: '192.0.2.53',
      outcome: 'answered',
      verifiedBy: isWhole ? ids : [],
      hasStrangers: false,
      error: isWhole ? undefined : 'bogus',
    } as const;
    return { servers: [server], missing: [], failure: undefined };
  }

  async look({
    sendsMail = false,
    rollZskEveryMs = undefined as number | undefined,
  } = {}): Promise<KeyOutcome> {
    return (await this.lookIn([], { sendsMail, rollZskEveryMs }))[0] as KeyOutcome;
  }

  /** Returns the outcomes of a job that has these zones too, after the domain's own. */
  async lookIn(
    others: readonly number[],
    options: Pick<KeyRollerOptions, 'sendsMail' | 'rollZskEveryMs'> = {},
  ): Promise<KeyOutcome[]> {
    const outcomes: KeyOutcome[] = [];
    const roll = createKeyRoller({
      db: this.#openWorker(),
      resolver: {
        observeDs: async () => {
          this.timesAsked++;
          return this.#seenDs();
        },
        observeSigned: async (_, { keys }) =>
          await this.#seenAnswers(keys.filter(({ isSep }) => isSep).map(({ id }) => id)),
        observeTheirKeys: async () => this.theirs,
      },
      rules: RULES,
      ...options,
      onOutcome: (outcome) => void outcomes.push(outcome),
      ahead: () => this.ahead,
    });
    const signedZoneId = (await loadDnssec(this.database.db, this.domainId))?.signed.id as number;
    await roll({ signedZoneId, others }, { signal: new AbortController().signal, again: false });
    return outcomes;
  }

  /** Observes until nothing is to be done at this time, with the node following. Checks that every answer validates. */
  async settle(): Promise<Saved> {
    const told: string[] = [];
    for (let looks = 0; looks < 10; looks++) {
      const outcome = await this.look();
      if (outcome.kind !== 'saved') throw new Error(`it is ${outcome.kind}`);
      await this.nodesFollow();
      if (outcome.step !== undefined) {
        await this.expectWhole();
        continue;
      }
      const { cause } = outcome.waiting ?? {};
      told.push(`${outcome.status} ${cause} ${outcome.preflight?.failure}`);
      if (cause !== 'nodes' && cause !== 'preflight' && cause !== 'observation') return outcome;
      if (looks > 2 && !this.isValid) return outcome;
    }
    throw new Error(`it does not settle: ${told.join('; ')}`);
  }

  async expectWhole(): Promise<void> {
    const isSigned = ((await published(this.database.db)) ?? []).some((line) => / DNSKEY /.test(line));
    if (isSigned) expect(await signatureFaults(this.database.db, APEX)).toEqual([]);
    await expectPublished(this.database.db, this.domainId);
  }

  /** Advances hour by hour, so that there is no gap between observations. */
  async passTime(days: number): Promise<Saved> {
    let outcome = await this.settle();
    for (const end = this.ahead + days * DAY_MS; this.ahead < end; ) {
      this.ahead += 6 * HOUR_MS;
      outcome = await this.settle();
    }
    return outcome;
  }

  /** Copies everything committed, on the same server. */
  async backUp(): Promise<TestDatabase> {
    const { url, db: before, drop } = this.database;
    await this.#closeWorker();
    await before.destroy(); // a database can only be copied without connections
    const backup = await createDatabase({ copyOf: /\/\/[^/]*\/([^?]*)/.exec(url)?.[1] as string });
    const db = openDatabase(url, { limits: OPERATOR_LIMITS });
    useSecrets(db);
    const dropAll = async () => {
      await db.destroy();
      await drop();
    };
    this.database = { url, db, drop: dropAll };
    return backup;
  }

  /** Continues from the backup. */
  async restore(backup: TestDatabase): Promise<void> {
    await this.#closeWorker();
    useSecrets(backup.db);
    this.database = backup;
  }

  async drop(): Promise<void> {
    await this.#closeWorker();
    await this.database.drop();
  }

  #openWorker(): Database {
    if (this.#worker === undefined) {
      this.#worker = openDatabase(asRole(this.database.url, 'zonefleet_worker'));
      useSecrets(this.#worker);
    }
    return this.#worker;
  }

  async #closeWorker(): Promise<void> {
    await this.#worker?.destroy();
    this.#worker = undefined;
  }

  async machine(): Promise<Machine> {
    return (await loadDnssec(this.database.db, this.domainId))?.machine as Machine;
  }

  /** Returns the DS record of a key with SHA-256. */
  async dsOf(id: string | undefined): Promise<string> {
    const key = (await this.machine()).keys.find((each) => each.id === id);
    return key?.ds.find((text) => text.split(' ')[2] === '2') as string;
  }

  /** In the format of `dsText`. */
  texts(): string[] | undefined {
    return this.#seenDs().answers[0]?.ds.map(dsText);
  }
}
