// `zonefleet dnssec import-key` and `export-key`: move a zone with its private keys, so that its DS does not change.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { KEY_FORMATS } from '../../zone/signing/private-key.ts';
import type { Cli } from '../terminal/cli.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';
import type { ExportOptions } from './export-key.ts';
import type { ImportOptions } from './import-key.ts';

export function addPrivateKeys(dnssec: Command, cli: Cli): void {
  dnssec
    .command('import-key')
    .description(
      'sign a zone with its existing keys from elsewhere, so that its DS does not change; exit 1 if they are refused',
    )
    .argument('<name>', 'name of a domain or operator zone')
    .argument(
      '<file...>',
      'K*.private of BIND, the output of pdnsutil export-zone-key or the PowerDNS API, PEM (PKCS#8 of Knot, or SEC1); - for standard input',
    )
    .option(
      '--flags <number...>',
      'flags of keys whose files do not contain them: 257 for a key with a DS, 256 for one that signs only data; once, or once per key',
      numberOf,
    )
    .option('--algorithm <number>', 'reject keys with another algorithm', single)
    .addOption(
      new Option('--denial <kind>', 'how to prove that a name or type does not exist')
        .choices(['nsec', 'nsec3'])
        .default('nsec'),
    )
    .option('--replace', 'domains: sign with these keys instead of others that were imported before')
    .action(async (text: string, files: string[], options: ImportOptions) => {
      const name = parseZoneName(text);
      const { importKeys } = await import('./import-key.ts');
      await cli.withStore((db) => importKeys(db, name, files, options, cli));
    });

  dnssec
    .command('export-key')
    .description('print the private keys of a zone, or write them to files; exit 1 if there are none')
    .argument('<name>', 'name of a domain or operator zone')
    .option('--key <id>', 'only this key (`dnssec keys` lists them)', single)
    .addOption(
      new Option('--format <format>', 'as BIND and PowerDNS read it, or PEM (PKCS#8) for Knot')
        .choices([...KEY_FORMATS])
        .default('bind'),
    )
    .option(
      '--directory <path>',
      'write files K*.private and K*.key, or K*.pem, readable only by their owner',
    )
    .action(async (text: string, options: ExportOptions) => {
      const name = parseZoneName(text);
      const { exportKeys } = await import('./export-key.ts');
      await cli.withStore((db) => exportKeys(db, name, options, cli));
    });
}

function single(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a number');
}

function numberOf(text: string, before: readonly number[] = []): readonly number[] {
  return [...before, single(text)];
}
