// Customers' domains in a separate database, active and delegated to us, generated inside Postgres, as the checker needs
// them and without records.

import { migrate } from '../../src/features/migrate.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../src/store/postgres/deadlines.ts';
import { benchCluster, runOn } from '../postgres/cluster.ts';
import { say } from '../say.ts';
import { OUR_NAMESERVERS, PARENT_ZONES, SILENT_ZONES } from './parents.ts';

export interface DomainSet {
  readonly name: string;
  readonly count: number;
  /** SQL, of `i`, which counts from 0: the zone above the domain, with the final dot. */
  readonly parent: string;
  /** SQL: the time of the next check. */
  readonly dueAt: string;
}

const SETTINGS = {
  edgeIpv4: ['192.0.2.1'],
  edgeIpv6: ['2001:db8::1'],
  nameserverSets: [[...OUR_NAMESERVERS], ['ns1.nameservers.test', 'ns2.nameservers.test']],
  soaRname: 'hostmaster.nameservers.test',
};

/** Under the zones of the small internet, with the names that it delegates; none is due. */
export function parentedDomains(count: number): DomainSet {
  return {
    name: `parented_${count}`,
    count,
    parent: `'t' || lpad((i % ${PARENT_ZONES})::text, 2, '0') || '.'`,
    dueAt: `now() + interval '1 day'`,
  };
}

/** Under zones whose servers are silent. */
export function silentDomains(count: number): DomainSet {
  return {
    name: `silent_${count}`,
    count,
    parent: `'s' || (i % ${SILENT_ZONES})::text || '.t00.'`,
    dueAt: `now() + interval '1 day'`,
  };
}

/** Returns domains due evenly over a day. The parent of rank r has 1/r as many domains as the first one. */
export function scheduledDomains(count: number, parents: number): DomainSet {
  return {
    name: `scheduled_${count}`,
    count,
    parent: `'p' || lpad(floor(${parents}::numeric ^ random()::numeric)::text, 4, '0') || '.'`,
    dueAt: `now() + random() * interval '1 day'`,
  };
}

/** The database's URL. */
export async function domainDatabase({ name, count, parent, dueAt }: DomainSet): Promise<string> {
  const cluster = await benchCluster();
  return cluster.database(`checks_${name}`, async (url) => {
    const startedMs = performance.now();
    const db = openDatabase(url, { limits: OPERATOR_LIMITS });
    await migrate(db, SETTINGS).finally(() => db.destroy());
    const names = OUR_NAMESERVERS.map((server) => `'${server}.'`).join();
    await runOn(
      url,
      'begin',
      `set local session_replication_role = 'replica'`, // skips a million foreign-key checks
      `insert into accounts (email) values ('owner@nameservers.test')`,
      `create temporary table made on commit drop as
         select i + 1 as id, ${parent} as parent, 'd' || lpad(i::text, 7, '0') as label
         from generate_series(0, ${count - 1}) i`,
      `insert into zones (id, name, kind, version, mark, records) overriding system value
         select id, label || '.' || parent, 'domain', 0, 0, 0 from made order by id`,
      `insert into domains (account_id, name, unicode, zone_id, dns_mode, status, served, serial, answers_generation,
           created_at, updated_at, delegated_ns)
         select (select id from accounts), label || '.' || parent, label || '.' || parent, id, 'managed', 'active', 'full',
           1, 1, now(), now(), array[${names}]
         from made order by made.id`,
      `insert into domain_checks (domain_id, account_id, parent, due_at, next_at, conclusive_at, conclusive_ours)
         select d.id, d.account_id, made.parent, due.at, due.at, now(), true
         from made join domains d on d.zone_id = made.id
           cross join lateral (select ${dueAt} as at where made.id > 0) due order by d.id`,
      `select setval(pg_get_serial_sequence('zones', 'id'), ${count})`,
      'commit',
      'vacuum (analyze) domains',
      'vacuum (analyze) domain_checks',
      'vacuum (analyze) zones',
      'checkpoint',
    );
    say(`${count} domains created in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  });
}
