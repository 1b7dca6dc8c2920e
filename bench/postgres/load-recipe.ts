// Loads a million zones of one recipe into Zonefleet's tables, generated inside Postgres from the recipe's records: the result of
// `zone load` in minutes instead of hours. Indexes are created after the rows.

import type { ZoneSet } from '../zones/zone-set.ts';
import { runOn } from './cluster.ts';
import { readRdataPieces } from './rdata-pieces.ts';

type Recipe = NonNullable<ZoneSet['recipe']>;

/** The database has the schema and no zones. */
export async function loadRecipe(url: string, recipe: Recipe): Promise<void> {
  const indexes = (await runOn(
    url,
    `select indexname, indexdef from pg_indexes where tablename = 'zone_records'`,
  )) as { indexname: string; indexdef: string }[];
  const label = labelOf(recipe);
  const pieces = readRdataPieces(recipe.text, recipe.apexOf(0));
  const values = pieces.map(
    ({ owner, type, ttl, before, namesApex, after, place }) =>
      `('${owner}', ${type}, ${ttl}, ${bytea(before)}, ${namesApex}, ${bytea(after)}, ${place === undefined ? 'null::bytea' : bytea(place)})`,
  );
  const { count } = recipe;
  await runOn(
    url,
    'begin',
    // The tables are truncated in this transaction, so the rows need no WAL. Skip a million foreign-key checks.
    'truncate changes, zone_records',
    `set local session_replication_role = 'replica'`,
    ...indexes.map(({ indexname }) => `drop index ${indexname}`),
    `create temporary table loaded on commit drop as
       select i as id, nextval('change_version') as version, ${label} as label,
         ${label} || '.${parentOf(recipe)}' as name,
         (random() * 9007199254740991)::bigint as mark
       from generate_series(1, ${count}) i`,
    `insert into zones (id, name, kind, version, mark, records)
       overriding system value select id, name, 'operator', version, mark, ${pieces.length} from loaded order by id`,
    `select setval(pg_get_serial_sequence('zones', 'id'), ${count})`,
    `insert into zone_records (zone_id, owner, type, ttl, rdata, version, place)
       select l.id, r.owner || l.name, r.type, r.ttl,
         case when r.names_apex
           then r.before || ('\\x' || lpad(to_hex(length(l.label)), 2, '0'))::bytea || l.label::bytea
             || '\\x${wireOf(parentOf(recipe))}'::bytea || r.after
           else r.before end,
         l.version, r.place
       from loaded l cross join (values ${values.join(', ')}) as r(owner, type, ttl, before, names_apex, after, place)
       order by l.id`,
    `insert into changes (id, zone_id, zone, operation, source, mark)
       select version, id, name, 'zone.save', 'test', mark from loaded order by id`,
    ...indexes.map(({ indexdef }) => indexdef),
    'commit',
    'vacuum (analyze) zone_records',
    'vacuum (analyze) zones',
    'analyze changes',
  );
}

const bytea = (hex: string) => `'\\x${hex}'::bytea`;

/** The first label as an SQL expression of `i`, which counts from 1. */
function labelOf(recipe: Recipe): string {
  const first = recipe.apexOf(0).split('.')[0] as string;
  const start = first.replace(/\d+$/, '');
  return `'${start}' || lpad((i - 1)::text, ${first.length - start.length}, '0')`;
}

function parentOf(recipe: Recipe): string {
  return recipe.apexOf(0).replace(/^[^.]*\./, '');
}

/** Hex of the wire form of a name in text. */
function wireOf(name: string): string {
  const labels = name.split('.').slice(0, -1);
  return Buffer.from(`${labels.map((l) => String.fromCharCode(l.length) + l).join('')}\0`, 'latin1').toString(
    'hex',
  );
}
