// Aliases of Route 53: in the zone files of cli53 (`al 86400 AWS ALIAS A w $self false`), and what is reported of each.

import { type Name, nameInRdata, printName } from '../../dns/name.ts';
import type { ZoneFileRecord } from '../../dns/zone-file/zone-file.ts';
import type { ZoneWarning } from '../warnings/zone-warning.ts';

const ALIAS_LINE =
  /^([^\s;"]*[ \t]+(?:\d\w*[ \t]+)?)AWS([ \t]+ALIAS[ \t]+)(A|AAAA|CNAME)([ \t]+[^\s;"]+)([ \t]+[^\s;"]+[ \t]+(?:true|false))(?![^\s;])/gim;
const LINE_END = /\r\n|\r|\n/g;

/** The text with each alias as an ordinary ALIAS record. Lines and columns do not change. */
export function plainAliases(text: string): { readonly text: string; readonly lines: ReadonlySet<number> } {
  const lines = new Set<number>();
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

export function aliasWarning({ owner, rdata, line, column }: AliasRecord): ZoneWarning {
  const [name, target] = [owner, nameInRdata(rdata)].map((each: Name) => printName(each));
  const message = `the alias of Route 53 becomes an ANAME: ${name} is answered with the addresses of ${target}`;
  return { code: 'TYPE_REPLACED', owner, type: 'ANAME', message, line, column };
}

type AliasRecord = Pick<ZoneFileRecord, 'owner' | 'rdata' | 'line' | 'column'>;
