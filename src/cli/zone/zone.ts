// The commands of `zonefleet zone`, with their options and help. The code of a command is imported when it runs, so that `zone
// check` never loads the database client.

import { type Command, Option } from 'commander';
import { RETENTION_OF_FEATURES } from '../../features/every-feature.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { RaisedSerial } from '../../store/signing/raise-serial.ts';
import type { SavedZone, UnloadedZone } from '../../store/zones/save-zones.ts';
import type { Audited, Cli } from '../terminal/cli.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';

interface OriginOption {
  readonly origin?: string;
}

export function addZoneCommands(program: Command, cli: Cli): void {
  const zone = program
    .command('zone')
    .description('manage operator zones, which are loaded unchanged, with their own SOA and NS');

  zone
    .command('load')
    .description('load zones from zone files, replacing those that exist; exit 1 if any file is refused')
    .argument('<path...>', 'a zone file, a folder (each *.zone in it), or - for standard input')
    .option('--origin <name>', "the zone's name (default: the owner of the SOA)")
    .addOption(
      new Option(
        '--serial <rule>',
        'what to do with a changed zone whose serial is not newer (default: refuse it, if peers transfer it)',
      ).choices(['raise']),
    )
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
      'raise the serials of zones, for example after a restore from a backup; exit 1 if any does not exist',
    )
    .argument('[name...]', 'zone names')
    .option('--all', 'all zones that peers transfer')
    .option(
      '--to <serial>',
      'the new serial (default: the time in seconds if that is newer, else the next one)',
    )
    .action(async (names: string[], { all, to }: { readonly all?: true; readonly to?: string }) => {
      const { raiseSerials, readSerial } = await import('./raise-serials.ts');
      const order = {
        apexes: all === undefined ? names.map(parseZoneName) : ('all' as const),
        to: to === undefined ? undefined : readSerial(to),
        signal: cli.interruptible(),
        audited: (db: Database, work: Audited<RaisedSerial>) => cli.audited(db, 'zone.raise', work),
      };
      await cli.withStore((db) => raiseSerials(db, order, cli.output));
    });

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
