// A set of zones in a PowerDNS database, with the schema of its package.

import { existsSync, readFileSync } from 'node:fs';
import { Client } from 'pg';
import { parseName, printName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts';
import { say } from '../say.ts';
import { type ZoneSet, zoneCount } from '../zones/zone-set.ts';
import { benchCluster } from './cluster.ts';

const SCHEMAS = [
  '/usr/share/pdns-backend-pgsql/schema/schema.pgsql.sql',
  '/usr/share/doc/pdns-backend-pgsql/schema.pgsql.sql',
];
const CHUNK_ROWS = 20_000;

export function powerdnsSchema(): string | undefined {
  return SCHEMAS.find((file) => existsSync(file));
}

/** The database's name. */
export async function powerdnsDatabase(set: ZoneSet): Promise<string> {
  const cluster = await benchCluster();
  const name = `powerdns_${set.name}`;
  await cluster.database(name, async (url) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(readFileSync(powerdnsSchema() as string, 'utf8'));
      await client.query('begin');
      const rows = new RowWriter(client);
      for (const { apex, text } of zonesOf(set)) await writeZone(rows, apex, text);
      await rows.flush();
      await client.query('commit');
      await client.query('vacuum analyze');
    } finally {
      await client.end();
    }
    say(`${set.name}: ${zoneCount(set)} zones loaded for PowerDNS`);
  });
  return name;
}

function* zonesOf({ zones, recipe }: ZoneSet): Generator<{ apex: string; text: string }> {
  yield* zones;
  for (let i = 0; i < (recipe?.count ?? 0); i++)
    yield { apex: recipe?.apexOf(i) ?? '', text: recipe?.text ?? '' };
}

async function writeZone(rows: RowWriter, apex: string, text: string): Promise<void> {
  const { records } = parseZoneFile(text, { origin: parseName(apex) });
  const zone = rows.beginZone(apex.slice(0, -1));
  for (const { owner, type, ttl, rdata } of records) {
    const content = printRdata(type, rdata);
    // PowerDNS keeps the preference in its own column.
    const [, preference, exchange] = type === TYPE.MX ? (/^(\d+) (.*)$/.exec(content) ?? []) : [];
    rows.add([
      zone,
      printName(owner).slice(0, -1),
      typeMnemonic(type),
      exchange ?? content,
      ttl,
      preference === undefined ? null : Number(preference),
    ]);
    if (rows.isFull()) await rows.flush();
  }
}

type Row = [number, string, string, string, number, number | null];

class RowWriter {
  readonly #client: Client;
  #zones: string[] = [];
  #firstZone = 1;
  #rows: Row[] = [];

  constructor(client: Client) {
    this.#client = client;
  }

  beginZone(name: string): number {
    this.#zones.push(name);
    return this.#firstZone + this.#zones.length - 1;
  }

  add(row: Row): void {
    this.#rows.push(row);
  }

  isFull(): boolean {
    return this.#rows.length >= CHUNK_ROWS;
  }

  async flush(): Promise<void> {
    await this.#client.query(
      `insert into domains (id, name, type) select $1::int + n - 1, name, 'NATIVE'
       from unnest($2::text[]) with ordinality as z(name, n)`,
      [this.#firstZone, this.#zones],
    );
    await this.#client.query(
      `insert into records (domain_id, name, type, content, ttl, prio)
       select * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[])`,
      [0, 1, 2, 3, 4, 5].map((column) => this.#rows.map((row) => row[column])),
    );
    this.#firstZone += this.#zones.length;
    this.#zones = [];
    this.#rows = [];
  }
}
