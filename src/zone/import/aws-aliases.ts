// Aliases of Route 53: rewrites those in zone files of cli53 (`al 86400 AWS ALIAS A w $self false`), and creates the
// warning for each alias.

import { nameInRdata, printName } from '../../dns/name.ts';
import type { ZoneFileRecord } from '../../dns/zone-file/zone-file.ts';
import type { ZoneWarning } from '../warnings/zone-warning.ts';

const ALIAS_LINE =
  /^([^\s;"]*[ \t]+(?:\d\w*[ \t]+)?)AWS([ \t]+ALIAS[ \t]+)(A|AAAA|CNAME)([ \t]+[^\s;"]+)([ \t]+[^\s;"]+[ \t]+(?:true|false))(?![^\s;])/gim;
const LINE_END = /\r\n|\r|\n/g;
/** By default, a zone of Route 53 has at most 10,000 records. The text is searched without interruption. */
const MAX_CHARACTERS = 4 * 2 ** 20;

/** Returns the text with each alias as an ordinary ALIAS record, and the lines of these. Lines and columns do not change. */
export function plainAliases(text: string): { readonly text: string; readonly lines: ReadonlySet<number> } {
  const lines = new Set<number>();
  if (text.length > MAX_CHARACTERS || !text.includes('AWS')) return { text, lines };
  let line = 1;
  let counted = 0;
  const plain = text.replace(ALIAS_LINE, (_, head, word, type, target, zone, at: number) => {
    line += text.slice(counted, at).match(LINE_END)?.length ?? 0;
    counted = at;
    lines.add(line);
    return `${head}IN ${word}${' '.repeat(type.length)}${target}${' '.repeat(zone.length)}`;
  });
  return { text: plain, lines };
}

/** Reports that an alias became the ANAME record. */
export function aliasWarning({ owner, rdata, line, column }: ZoneFileRecord): ZoneWarning {
  const target = printName(nameInRdata(rdata));
  const message = `the alias of Route 53 becomes an ANAME: ${printName(owner)} is answered with the addresses of ${target}`;
  return { code: 'TYPE_REPLACED', owner, type: 'ANAME', message, line, column };
}
