// The commands of `zonefleet zone`, with their options and help. The code of a command is imported when it runs, so that `zone
// check` never loads the database client.

import { type Command, Option } from 'commander';
import { RETENTION_OF_FEATURES } from '../../features/every-feature.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { RaisedSerial } from '../../store/signing/raise-serial.ts';
import type { SavedZone, UnloadedZone } from '../../store/zones/save-zones.ts';
import type { Audited, Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { Failure } from '../terminal/failure.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';
import { type OwnerOption, ownerOption, withOwner } from '../terminal/with-owner.ts';

interface OriginOption {
  readonly origin?: string;
}

export function addZoneCommands(program: Command, cli: Cli): void {
  const zone = commandOf(program, 'zone');

  zone
    .command('load')
    .description('load zones from zone files, replacing those that exist; exit 1 if any file is refused')
    .argument('<path...>', 'a zone file, a folder (each *.zone in it), or - for standard input')
    .option('--origin <name>', "the zone's name (default: the owner of the SOA)")
    .addOption(serialOption())
    .action(async (paths: string[], { origin, serial }: OriginOption & { readonly serial?: 'raise' }) => {
      const order = {
        paths,
        origin: originOf(origin),
        serialRule: serial ?? ('newer' as const),
        at: nowInSeconds(),
        actor: cli.actor(),
        signal: cli.interruptible(),
        audited: (db: Database, work: Audited<SavedZone[]>) => cli.audited(db, 'zone.load', work),
      };
      const { loadZoneFiles } = await import('./load-zone-files.ts');
      await cli.withStore((db) => thenPurge(db, loadZoneFiles(db, order, cli.output)));
    });

  zone
    .command('check')
    .description('validate files as `zone load` does, without a database; exit 1 if any file is refused')
    .argument('<file...>', 'a zone file, a folder (each *.zone in it), or - for standard input')
    .option('--origin <name>', "the zone's name (default: the owner of the SOA)")
    .action(async (paths: string[], { origin }: OriginOption) => {
      const order = { paths, origin: originOf(origin), at: nowInSeconds(), signal: cli.interruptible() };
      const { checkZoneFiles } = await import('./check-zone-files.ts');
      cli.exitCode = await checkZoneFiles(order, cli.output);
    });

  zone
    .command('unload')
    .description('remove zones from service; exit 1 if any does not exist')
    .argument('<name...>', 'zone names')
    .action(async (names: string[]) => {
      const order = {
        apexes: names.map(parseZoneName),
        actor: cli.actor(),
        audited: (db: Database, work: Audited<UnloadedZone[]>) => cli.audited(db, 'zone.unload', work),
      };
      const { unloadZones } = await import('./unload-zones.ts');
      await cli.withStore((db) => thenPurge(db, unloadZones(db, order, cli.output)));
    });

  zone
    .command('raise')
    .description(
      'raise the serials of zones, for example after a restore from a backup; exit 1 if any is not raised',
    )
    .argument('[name...]', 'zone names')
    .option('--all', 'all zones that peers transfer')
    .option(
      '--to <serial>',
      'the new serial (default: the time in seconds if that is newer, else the next one)',
    )
    .action(async (names: string[], { all, to }: { readonly all?: true; readonly to?: string }) => {
      const { chooseZones, raiseSerials, readSerial } = await import('./raise-serials.ts');
      const order = {
        apexes: chooseZones(names, all === true),
        to: to === undefined ? undefined : readSerial(to),
        signal: cli.interruptible(),
        audited: (db: Database, work: Audited<RaisedSerial>) => cli.audited(db, 'zone.raise', work),
      };
      await cli.withStore((db) => raiseSerials(db, order, cli.output));
    });

  addImportCommand(zone, cli);

  zone
    .command('export')
    .description('write a zone as a zone file; exit 1 if it does not exist')
    .argument('<name>', "the zone's name")
    .option('-o, --output <file>', 'write to this file (atomically) instead of stdout')
    .action(async (name: string, { output }: { output?: string }) => {
      const order = { apex: parseZoneName(name), file: output, signal: cli.interruptible() };
      const { exportZone } = await import('./export-zone.ts');
      await cli.withStore((db) => exportZone(db, order, cli.output));
    });
}

interface ImportCommand extends OwnerOption {
  readonly from: string;
  readonly key?: string;
  readonly keyFile?: string;
  readonly serial?: 'raise';
  readonly dryRun?: true;
}

function addImportCommand(zone: Command, cli: Cli): void {
  const command = zone
    .command('import')
    .description(
      'transfer a zone from a server once (AXFR), as an operator zone, or with --account into a domain; exit 1 if it is refused',
    )
    .argument('<name>', "the zone's name")
    .requiredOption('--from <address>', 'the server, such as 192.0.2.53 or [2001:db8::53]:5353')
    .option('--key <name>', 'sign with this key of the fleet (tsig import)')
    .option(
      '--key-file <file>',
      'sign with the key in this file, a key block of BIND or ALGORITHM:NAME:SECRET; - for standard input',
    )
    .addOption(serialOption())
    .option('--dry-run', 'transfer and validate the zone, without saving it');
  ownerOption(command).action((name: string, options: ImportCommand) => runImport(cli, name, options));
}

async function runImport(
  cli: Cli,
  name: string,
  { from, key, keyFile, serial, dryRun, account }: ImportCommand,
): Promise<void> {
  if (key !== undefined && keyFile !== undefined) throw new Failure('usage', 'give --key or --key-file');
  const apex = parseZoneName(name);
  const { importZone } = await import('./import-zone.ts');
  const { readKeyFile, storedKey } = await import('./transfer-key.ts');
  const { parseServer, printListenAddress } = await import('../../process/listen-address.ts');
  const { transferZone } = await import('../../resolver/transfer/transfer-zone.ts');
  const server = parseServer(from);
  if (server === undefined)
    throw new Failure(
      'usage',
      `--from: "${from}" is not an address such as 192.0.2.53 or [2001:db8::53]:5353`,
    );
  const keyOfFile = keyFile === undefined ? undefined : await readKeyFile(keyFile);
  const { transferSource, secondaryMaxRecords = Number.POSITIVE_INFINITY } = await cli.settings();
  const secrets = key === undefined ? [] : await cli.tsigSecrets();
  const signal = cli.interruptible();
  await cli.withStore((db) =>
    withOwner(db, { ...(account !== undefined && { account }) }, cli.output, async (owner) => {
      const primary = { ...server, key: key === undefined ? keyOfFile : await storedKey(db, secrets, key) };
      const order = { apex, form: 'axfr', serial: undefined, maxRecords: secondaryMaxRecords } as const;
      const sources = transferSource === undefined ? [] : [transferSource];
      const work = importZone(
        db,
        {
          apex,
          from: printListenAddress(server),
          transfer: () => transferZone(primary, order, { signal, allowed: 'any', sources }),
          owner,
          isDryRun: dryRun === true,
          serialRule: serial ?? 'newer',
          at: nowInSeconds(),
          by: cli.changedBy(),
          actor: cli.actor(),
          signal,
          audited: (on: Database, save: Audited<SavedZone[]>) => cli.audited(on, 'zone.load', save),
        },
        cli.output,
      );
      return dryRun ? await work : await thenPurge(db, work);
    }),
  );
}

function serialOption(): Option {
  return new Option(
    '--serial <rule>',
    'what to do with a changed zone whose serial is not newer (default: refuse it, if peers transfer it)',
  ).choices(['raise']);
}

function originOf(text: string | undefined) {
  return text === undefined ? undefined : parseZoneName(text);
}

function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Cleans up, because a fleet of operator zones may have no workers. A failure only costs space, so it is ignored. */
async function thenPurge(db: Database, work: Promise<number>): Promise<number> {
  const exitCode = await work;
  const { purgeOld } = await import('../../store/housekeeping/keep-house.ts');
  await purgeOld(db, RETENTION_OF_FEATURES).catch(() => {});
  return exitCode;
}
