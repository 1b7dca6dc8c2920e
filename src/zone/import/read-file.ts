// Reads the export of any service into the records of a zone file. The export is Route 53 JSON, or a zone file with the
// peculiarities of the service. Any other format causes one error.

import type { Name } from '../../dns/name.ts';
import { parseZoneFileInPieces } from '../../dns/zone-file/parse-zone-file.ts';
import type { LineByLine, ReadLine, ZoneFile } from '../../dns/zone-file/zone-file.ts';
import { WarningList, type ZoneWarning } from '../warnings/zone-warning.ts';
import { aliasWarning, plainAliases } from './aws-aliases.ts';
import { defaultTtlOfWindows, isCsv, isJson, isOfCloudflare } from './foreign-forms.ts';
import { readRoute53 } from './route53.ts';
import { replaceSpf } from './spf-records.ts';

interface ReadFileOptions {
  readonly lineByLine: LineByLine;
  readonly addDots: boolean | undefined;
  /** Called with each record of a zone file. */
  readonly onRecord: (line: ReadLine) => void;
}

interface ReadFile extends Pick<ZoneFile, 'records' | 'problems' | 'leftOut'> {
  readonly warnings: readonly ZoneWarning[];
}

const OTHER_JSON =
  'this is JSON, not a zone file: import a zone file (BIND), or the JSON of `aws route53 list-resource-record-sets`';
const CSV = 'this is a CSV file: export a zone file (BIND) or Route 53 JSON instead';
/** Cloudflare writes this TTL if it chooses the TTL itself. */
const AUTOMATIC_TTL = 1;

export function* readFile(
  text: string,
  apex: Name,
  options: ReadFileOptions,
): Generator<undefined, ReadFile> {
  if (isCsv(text)) return refused(CSV);
  const file = isJson(text)
    ? yield* readRoute53(text, apex, options.lineByLine)
    : yield* readZoneFile(text, apex, options);
  if (file === undefined) return refused(OTHER_JSON);
  const { records, leftOut, warnings } = replaceSpf(file.records);
  const all = new WarningList();
  for (const warning of [...file.warnings, ...warnings]) all.add(warning);
  return {
    records,
    problems: file.problems,
    leftOut: [...file.leftOut, ...leftOut],
    warnings: all.list,
  };
}

function refused(message: string): ReadFile {
  return { records: [], problems: [{ line: 1, column: 1, message }], leftOut: [], warnings: [] };
}

function* readZoneFile(
  text: string,
  origin: Name,
  { lineByLine, addDots, onRecord }: ReadFileOptions,
): Generator<undefined, ReadFile> {
  const plain = plainAliases(text);
  const warnings: ZoneWarning[] = [];
  const file = yield* parseZoneFileInPieces(plain.text, {
    origin,
    lineByLine,
    addDots,
    defaultTtlSeconds: defaultTtlOfWindows(text),
    onRecord(line) {
      if (plain.lines.has(line.record.line)) warnings.push(aliasWarning(line.record));
      onRecord(line);
    },
  });
  if (isOfCloudflare(text)) {
    for (const record of file.records) if (record.ttl === AUTOMATIC_TTL) record.ttl = lineByLine.ttlSeconds;
  }
  return { ...file, warnings };
}
