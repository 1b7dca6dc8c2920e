// `zonefleet dnssec foreign-keys`: another operator's keys in the DNSKEY set of a domain.

import { type Command, InvalidArgumentError } from 'commander';
import type { ForeignKeyFields } from '../../checks/dnssec/foreign-key.ts';
import { listedForeign } from '../../checks/dnssec/machine.ts';
import { type Name, printName } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { loadDnssecOf } from '../../store/dnssec/dnssec-state.ts';
import type { Database } from '../../store/postgres/database.ts';
import { listSigning } from '../../store/signing/load-signing.ts';
import type { Cli } from '../terminal/cli.ts';
import type { Output } from '../terminal/output.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';

interface ForeignOptions {
  readonly set?: readonly ForeignKeyFields[];
  readonly none?: boolean;
  readonly import?: boolean;
}

export function addForeignKeys(dnssec: Command, cli: Cli): void {
  dnssec
    .command('foreign-keys')
    .description('show or set the keys of another operator in the zone of a domain; exit 1 if refused')
    .argument('<name>', 'name of a domain')
    .option(
      '--set <key>',
      'a key to keep, as in a DNSKEY record; repeat for each key: "257 3 13 mdsswUyr3DPW…"',
      collect,
    )
    .option('--none', 'remove all of them as soon as they are no longer needed')
    .option('--import', 'let a worker fetch them from the nameservers that the parent lists')
    .action(async (text: string, options: ForeignOptions) => {
      const name = parseZoneName(text);
      const keys = options.none === true ? [] : options.set;
      if (keys === undefined && options.import !== true) {
        await cli.withStore((db) => showForeignKeys(db, name, cli.output));
        return;
      }
      const { changeDomains } = await import('./change-dnssec.ts');
      const goal = keys === undefined ? ({ kind: 'import' } as const) : ({ kind: 'foreign', keys } as const);
      await cli.withStore((db) => changeDomains(db, [name], goal, cli));
    });
}

function collect(text: string, before: readonly ForeignKeyFields[] = []): readonly ForeignKeyFields[] {
  return [...before, keyOf(text)];
}

const KEY = /^(\d{1,5}) (\d{1,3}) (\d{1,3}) ([A-Za-z0-9+/ ]+={0,2})$/;

function keyOf(text: string): ForeignKeyFields {
  const [, flags, protocol, algorithm, base64 = ''] = KEY.exec(text.trim()) ?? [];
  const publicKey = new Uint8Array(Buffer.from(base64, 'base64'));
  if (flags === undefined || Number(flags) > 65_535 || Number(algorithm) > 255 || publicKey.length === 0)
    throw new InvalidArgumentError('expected flags, protocol, algorithm and the key in Base64');
  return { flags: Number(flags), protocol: Number(protocol), algorithm: Number(algorithm), publicKey };
}

async function showForeignKeys(db: Database, name: Name, output: Output): Promise<number> {
  const [zone] = await listSigning(db, [name]);
  const stored = zone && (await loadDnssecOf(db, zone.id));
  const listed = stored?.machine ? listedForeign(stored.machine) : [];
  const keys = stored?.keys.filter(({ id }) => listed.includes(String(id))) ?? [];
  const texts = keys.map(({ dnskey }) => printRdata(TYPE.DNSKEY, dnskey));
  if (output.json) await output.print(JSON.stringify({ zone: printName(name), keys: texts }));
  else for (const text of texts) await output.print(text);
  return 0;
}
