// `zonefleet dnssec …`: operators sign and unsign operator zones and enter their DS records themselves. Domains have goals that
// workers pursue.

import { type Command, InvalidArgumentError } from 'commander';
import type { DenialKind } from '../../store/postgres/tables/schema.ts';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { Failure } from '../terminal/failure.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';
import type { DomainGoal } from './domain-goals.ts';
import { addForeignKeys } from './foreign-keys.ts';
import { addPrivateKeys } from './private-keys.ts';

interface EnableOptions {
  readonly denial: DenialKind;
  readonly algorithm: 13 | 15;
  readonly split?: boolean;
}

interface RollOptions {
  readonly compromised?: boolean;
  readonly algorithm?: 13 | 15;
  /** Undefined if it does not change. */
  readonly split?: boolean;
  readonly key?: number;
}

export function addDnssecCommands(program: Command, cli: Cli): void {
  const dnssec = commandOf(program, 'dnssec');

  dnssec
    .command('show')
    .description('show how zones are signed, and the DS for their parent zones; exit 1 if one is not signed')
    .argument('<name...>', 'names of zones')
    .action(async (names: string[]) => {
      const { showSigning } = await import('./show-dnssec.ts');
      await cli.withStore((db) => showSigning(db, names.map(parseZoneName), cli.output));
    });

  dnssec
    .command('list')
    .description('list all zones that are or were signed')
    .option('--status <status>', 'only those with this status, such as secure or broken')
    .option('--waiting', 'only domains whose next step is waiting')
    .action(async (filter: { status?: string; waiting?: true }) => {
      const { listSigned } = await import('./show-dnssec.ts');
      await cli.withStore((db) => listSigned(db, filter, cli.output));
    });

  dnssec
    .command('keys')
    .description('show the keys of zones, including retired ones')
    .argument('<name...>', 'names of zones')
    .action(async (names: string[]) => {
      const { showKeys } = await import('./show-dnssec.ts');
      await cli.withStore((db) => showKeys(db, names.map(parseZoneName), cli.output));
    });

  dnssec
    .command('verify')
    .description(
      'verify all signatures and proofs that nodes serve, or those of zone files; exit 1 if any is wrong',
    )
    .argument('[name...]', 'names of zones')
    .option(
      '--file <file...>',
      'verify zone files, folders (each *.zone in them), or - for standard input; needs no database',
    )
    .action(async (names: string[], { file: paths = [] }: { file?: string[] }) => {
      if (names.length > 0 === paths.length > 0) throw new Failure('usage', 'give names of zones, or --file');
      if (paths.length > 0) {
        const { verifyFiles } = await import('./verify-files.ts');
        const order = { paths, at: Math.floor(Date.now() / 1000), signal: cli.interruptible() };
        cli.exitCode = await verifyFiles(order, cli.output);
        return;
      }
      const { verifyZones } = await import('./verify-zones.ts');
      await cli.withStore((db) => verifyZones(db, names.map(parseZoneName), cli.output));
    });

  addChanges(dnssec, cli);
  addDenial(dnssec, cli);
  addGoals(dnssec, cli);
  addForeignKeys(dnssec, cli);
  addPrivateKeys(dnssec, cli);
  addKeyCare(dnssec, cli);
}

function addChanges(dnssec: Command, cli: Cli): void {
  dnssec
    .command('enable')
    .description('sign zones, and print the DS for the parents of operator zones; exit 1 if one is refused')
    .argument('<name...>', 'names of domains and operator zones')
    .option('--denial <kind>', 'nsec or nsec3', denialOf, 'nsec')
    .option('--algorithm <number>', '13 (ECDSA P-256) or 15 (Ed25519)', algorithmOf, 13)
    .option('--split', 'use separate keys: a KSK for the keys, a ZSK for all other records')
    .action(async (names: string[], { denial, algorithm, split = false }: EnableOptions) => {
      const order = { denial, algorithm, split };
      const { enableZones } = await import('./change-dnssec.ts');
      await cli.withStore((db) => enableZones(db, names.map(parseZoneName), order, cli));
    });

  dnssec
    .command('disable')
    .description('remove the signatures of zones; exit 1 if one is refused')
    .argument('<name...>', 'names of domains and operator zones')
    .option(
      '--now',
      'operator zones: confirm that the parents have had no DS for longer than its TTL; domains: remove the signatures as soon as no resolver can have the DS, not seven days later',
    )
    .action(async (names: string[], { now = false }: { now?: boolean }) => {
      const { disableZones } = await import('./change-dnssec.ts');
      await cli.withStore((db) => disableZones(db, names.map(parseZoneName), now, cli));
    });
}

function addDenial(dnssec: Command, cli: Cli): void {
  dnssec
    .command('denial')
    .description('change the denial of existence; all answers stay valid meanwhile; exit 1 if one is refused')
    .argument('<kind>', 'nsec or nsec3', denialOf)
    .argument('<name...>', 'names of domains and operator zones')
    .action(async (denial: DenialKind, names: string[]) => {
      const { changeDenials } = await import('./change-dnssec.ts');
      await cli.withStore((db) => changeDenials(db, names.map(parseZoneName), denial, cli));
    });
}

function addGoals(dnssec: Command, cli: Cli): void {
  const add = (kind: 'roll' | 'abort' | 'check', description: string) =>
    dnssec.command(kind).description(description).argument('<name...>', 'names of domains');
  const set = async (names: readonly string[], goal: DomainGoal) => {
    const { changeDomains } = await import('./change-dnssec.ts');
    await cli.withStore((db) => changeDomains(db, names.map(parseZoneName), goal, cli));
  };
  add('roll', 'change to new keys, step by step; exit 1 if a domain is refused')
    .option(
      '--compromised',
      'third parties may have the old keys: skip the waits that only protect against mistakes',
    )
    .option('--algorithm <number>', 'algorithm of the new keys: 13 or 15', algorithmOf)
    .option('--split', 'change to separate keys: a KSK and a ZSK')
    .option('--no-split', 'change to one key for everything')
    .option(
      '--key <id>',
      'for a domain with two keys: replace only this one (`dnssec keys` lists them)',
      idOf,
    )
    .action(async (names: string[], { compromised = false, key, ...ways }: RollOptions) => {
      if (key !== undefined && names.length > 1)
        throw new Failure('usage', '--key requires exactly one name');
      await set(names, { kind: 'roll', compromised, keyId: key, ...ways });
    });
  add('abort', 'cancel the change in progress; exit 1 if there is none').action(async (names: string[]) =>
    set(names, { kind: 'abort' }),
  );
  add('check', 'check the parent and our own servers now; exit 1 if a domain has no keys').action(
    async (names: string[]) => set(names, { kind: 'check' }),
  );
}

function addKeyCare(dnssec: Command, cli: Cli): void {
  dnssec
    .command('check-keys')
    .description('check that KEY_SECRETS and TSIG_SECRETS open every key; exit 1 if not')
    .action(async () => {
      const { checkAllKeys } = await import('./care-for-keys.ts');
      await cli.withStore(async (db) => checkAllKeys(db, await cli.tsigSecrets(), cli.output));
    });

  dnssec
    .command('rewrap')
    .description(
      'seal everything again with the first of KEY_SECRETS and TSIG_SECRETS, so that the others can be removed',
    )
    .action(async () => {
      const { rewrapBoxes } = await import('./care-for-keys.ts');
      await cli.withStore(async (db) => rewrapBoxes(db, await cli.tsigSecrets(), cli.output));
    });
}

function idOf(text: string): number {
  const id = Number(text);
  if (/^[1-9]\d{0,14}$/.test(text)) return id;
  throw new InvalidArgumentError('expected the id of a key');
}

function denialOf(text: string): DenialKind {
  if (text === 'nsec' || text === 'nsec3') return text;
  throw new InvalidArgumentError('expected nsec or nsec3');
}

function algorithmOf(text: string): 13 | 15 {
  if (text === '13') return 13;
  if (text === '15') return 15;
  throw new InvalidArgumentError('expected 13 or 15');
}
