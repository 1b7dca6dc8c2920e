// One zone in the export formats of several DNS providers.

import { ROOT } from '../../../src/dns/name.ts';
import { printGeneric } from '../../../src/dns/record/generic-rdata.ts';
import { parseRdata } from '../../../src/dns/record/rdata.ts';
import { typeCode } from '../../../src/dns/type-codes.ts';

export interface ProviderRecord {
  /** Relative to the domain, or `@`. */
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  /** The words before the host, or all words of a type without a host. */
  readonly words: readonly string[];
  /** In full, without the final dot. */
  readonly host?: string;
  readonly text?: string;
  readonly proxied?: boolean;
}

export interface ProviderZone {
  readonly domain: string;
  readonly records: readonly ProviderRecord[];
}

export interface ProviderForm {
  readonly provider: string;
  /** True if the file has full names without a final dot. */
  readonly addDots: boolean;
  /** True if the file contains the proxied flags. */
  readonly saysProxied: boolean;
  /** Number of its records besides those of the zone: the SOA, its NS, … */
  readonly others: number;
  readonly write: (zone: ProviderZone) => string;
}

const TTLS = [300, 3600, 14_400, 600];

/** Returns a zone with the types that all five providers support, long and quoted text, wildcards and a delegation. */
export function providerZone(domain: string, count: number): ProviderZone {
  const add = (name: string, type: string, ttl: number, rest: Partial<ProviderRecord>) =>
    records.push({ name, type, ttl, words: [], ...rest });
  const records: ProviderRecord[] = [];
  add('@', 'A', 300, { words: ['192.0.2.1'], proxied: true });
  add('@', 'AAAA', 300, { words: ['2001:db8::1'], proxied: true });
  add('@', 'MX', 3600, { words: ['10'], host: `mail.${domain}` });
  add('@', 'MX', 3600, { words: ['20'], host: 'mx.backup.example' });
  add('@', 'TXT', 3600, { text: 'v=spf1 mx include:_spf.backup.example -all' });
  add('@', 'TXT', 3600, { text: `long=${'0123456789'.repeat(29)}abcde` }); // 300 octets
  add('@', 'CAA', 3600, { words: ['0', 'issue', '"ca.example; account=1"'] });
  add('@', 'CAA', 3600, { words: ['0', 'iodef', `"mailto:host@${domain}"`] });
  add('*', 'A', 300, { words: ['192.0.2.2'] });
  add('apps', 'A', 300, { words: ['192.0.2.4'] });
  add('*.apps', 'CNAME', 600, { host: domain });
  add('mail', 'A', 3600, { words: ['192.0.2.3'] });
  add('www', 'CNAME', 300, { host: domain, proxied: true });
  add('_dmarc', 'TXT', 3600, { text: `v=DMARC1; p=reject; rua=mailto:dmarc@${domain}` });
  add('k1._domainkey', 'TXT', 14_400, { text: `v=DKIM1; k=rsa; p=${'QUJDREVG'.repeat(48)}` });
  add('quoted', 'TXT', 600, { text: 'say "hi"; then C:\\dir\\042' });
  add('umlaut', 'TXT', 600, { text: 'Grüße; \t"ok"' });
  add('_sip._tcp', 'SRV', 600, { words: ['10', '60', '5060'], host: `mail.${domain}` });
  add('_sips._tcp', 'SRV', 600, { words: ['10', '60', '5061'], host: 'sip.backup.example' });
  add('sub', 'NS', 3600, { host: `ns.sub.${domain}` });
  add('sub', 'NS', 3600, { host: 'ns.backup.example' });
  add('ns.sub', 'A', 3600, { words: ['192.0.2.53'] });
  add('sub', 'DS', 3600, { words: ['4711', '13', '2', 'AB'.repeat(32)] });
  add('_443._tcp.www', 'TLSA', 600, { words: ['3', '1', '1', 'CD'.repeat(32)] });
  add('mail', 'SSHFP', 600, { words: ['4', '2', 'EF'.repeat(32)] });
  add('e164', 'NAPTR', 600, {
    words: ['1', '2', '"u"', '"E2U+sip"', '"!^.*$!sip:a@b.example!"', '.'],
  });
  add('svc', 'HTTPS', 600, { words: ['1', '.', 'alpn="h2,h3"'] });
  add('7', 'PTR', 600, { host: `mail.${domain}` });
  for (let i = 0; records.length < count; i++) {
    const ttl = TTLS[i % TTLS.length] as number;
    const name = `h${i}`;
    if (i % 5 === 3) add(name, 'CNAME', ttl, { host: i % 2 === 0 ? `mail.${domain}` : `h${i}.cdn.example` });
    else if (i % 5 === 4) add(name, 'TXT', ttl, { text: `key${i}=${'x'.repeat(i)};` });
    else {
      add(name, 'A', ttl, { words: [`198.51.100.${i % 250}`] });
      if (i % 2 === 0 && records.length < count) add(name, 'AAAA', ttl, { words: [`2001:db8::${i}`] });
    }
  }
  return { domain, records };
}

/** Returns the rdata of a record, from the plain form of the zone rather than a provider's. */
export function rdataOf({ type, words, host, text }: ProviderRecord): Uint8Array {
  if (text !== undefined) {
    const pieces = piecesOf(text).map((piece) => Buffer.concat([Buffer.of(piece.length), piece]));
    return Uint8Array.from(Buffer.concat(pieces));
  }
  const all = host === undefined ? words : [...words, `${host}.`];
  const tokens = all.map((word) => {
    const quoted = word.startsWith('"');
    return { text: word.replaceAll('"', ''), quoted, line: 1, column: 1 };
  });
  return parseRdata(typeCode(type) as number, tokens, ROOT);
}

function piecesOf(text: string): Buffer[] {
  const octets = Buffer.from(text);
  return Array.from({ length: Math.ceil(octets.length / 255) }, (_, i) =>
    octets.subarray(i * 255, (i + 1) * 255),
  );
}

/** Returns strings in quotes, with escapes of the given base for octets that are not printable ASCII. */
function quoted(text: string, base: 8 | 10): string[] {
  const escaped = (octet: number) => `\\${octet.toString(base).padStart(3, '0')}`;
  return piecesOf(text).map((piece) => {
    const characters = [...piece].map((octet) => {
      const character = String.fromCharCode(octet);
      if (octet < 32 || octet > 126) return escaped(octet);
      return character === '"' || character === '\\' ? `\\${character}` : character;
    });
    return `"${characters.join('')}"`;
  });
}

function fullOwner(name: string, domain: string): string {
  return name === '@' ? `${domain}.` : `${name}.${domain}.`;
}

function contentOf({ words, host, text }: ProviderRecord): string {
  if (text !== undefined) return quoted(text, 10).join(' ');
  return [...words, ...(host === undefined ? [] : [`${host}.`])].join(' ');
}

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

const CLOUDFLARE: ProviderForm = {
  ...{ provider: 'Cloudflare', addDots: false, saysProxied: true, others: 3 },
  write({ domain, records }) {
    const lines = [
      ...[';;', `;; Domain:     ${domain}.`, ';; Exported:   2026-11-20 08:15:42', ';;'],
      ';; This file is intended for use for informational and archival',
      ';; purposes ONLY and MUST be edited before use on a production',
      ...[
        ';; DNS server.  In particular, you must:',
        ';;   -- update the SOA record with the correct authoritative name server',
        ';;',
      ],
      `${domain}\t3600\tIN\tSOA\tada.ns.cloudflare.com. dns.cloudflare.com. 2050 10000 2400 604800 3600`,
      ...['', ';; NS Records'],
      ...['ada', 'bob'].map((ns) => `${domain}.\t86400\tIN\tNS\t${ns}.ns.cloudflare.com.`),
    ].map((line) => line.replace(`${domain}\t3600`, `${domain}.\t3600`));
    for (const [type, group] of groupedBy(records, (record) => record.type)) {
      lines.push('', `;; ${type} Records`);
      for (const record of group) {
        const { name, ttl, proxied = false } = record;
        const tags = /^(?:A|AAAA|CNAME)$/.test(type) ? ` ; cf_tags=cf-proxied:${proxied}` : '';
        const owner = fullOwner(name, domain);
        lines.push(`${owner}\t${ttl === 300 ? 1 : ttl}\tIN\t${type}\t${contentOf(record)}${tags}`);
      }
    }
    return lines.join('\n');
  },
};

const ROUTE53: ProviderForm = {
  ...{ provider: 'Route 53', addDots: false, saysProxied: false, others: 3 },
  write({ domain, records }) {
    const value = ({ words, host, text }: ProviderRecord) =>
      text === undefined
        ? [...words, ...(host === undefined ? [] : [host])].join(' ')
        : quoted(text, 8).join(' ');
    const sets = [...groupedBy(records, ({ name, type }) => `${name} ${type}`).values()].map((set) => {
      const [{ name, type, ttl }] = set as [ProviderRecord];
      const Name = fullOwner(name, domain).replace('*', '\\052');
      return { Name, Type: type, TTL: ttl, ResourceRecords: set.map((record) => ({ Value: value(record) })) };
    });
    const own = { Name: `${domain}.`, TTL: 172_800 };
    const ns = ['ns-1.awsdns-01.org.', 'ns-2.awsdns-02.com.'].map((Value) => ({ Value }));
    const soa = `${ns[0]?.Value} awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400`;
    const ofService = [
      { ...own, Type: 'NS', ResourceRecords: ns },
      { ...own, Type: 'SOA', ResourceRecords: [{ Value: soa }] },
    ];
    return JSON.stringify({ ResourceRecordSets: [...ofService, ...sets] }, undefined, 4);
  },
};

const GODADDY: ProviderForm = {
  ...{ provider: 'GoDaddy', addDots: true, saysProxied: false, others: 3 },
  write({ domain, records }) {
    const lines = [
      ...[`; Domain: ${domain}`, '; Exported (y-m-d hh:mm:ss): 2026-11-20 08:15:42', ';'],
      ...['; This file is intended for use for informational and archival', '; purposes ONLY', ''],
      ...[`$ORIGIN ${domain}.`, '', '; SOA Record'],
      '@\t3600\t IN \tSOA\tns01.domaincontrol.com.\tdns.jomax.net. (',
      ...['2026112001', '28800', '7200', '604800', '600'].map((number) => `\t\t\t\t${number}`),
      ...['\t\t\t\t)', '', '; NS Record'],
      ...['ns01', 'ns02'].map((ns) => `@\t3600\t IN \tNS\t${ns}.domaincontrol.com.`),
    ];
    /** Alternates between relative, full without a final dot, and full. */
    const hostText = (host: string, i: number) => {
      if (i % 3 === 2) return `${host}.`;
      if (i % 3 === 1) return host;
      if (host === domain) return '@';
      const label = host.endsWith(`.${domain}`) ? host.slice(0, -domain.length - 1) : '.';
      return label.includes('.') ? host : label;
    };
    for (const [type, group] of groupedBy(records, (record) => record.type)) {
      lines.push('', `; ${type} Record`);
      for (const [i, record] of group.entries()) {
        const { name, ttl, words, host } = record;
        const content = host === undefined ? contentOf(record) : [...words, hostText(host, i)].join('\t');
        lines.push(`${name}\t${ttl}\t IN \t${type}\t${content}`);
      }
    }
    return lines.join('\n');
  },
};

/** Types that Windows DNS writes by number. */
const UNKNOWN_TO_WINDOWS = ['CAA', 'SSHFP', 'HTTPS'];

const WINDOWS: ProviderForm = {
  ...{ provider: 'Windows DNS', addDots: false, saysProxied: false, others: 4 },
  write({ domain, records }) {
    const lines = [
      ...[';', `;  Database file ${domain}.dns for ${domain} zone.`, ';      Zone version:  88', ';', ''],
      `@                       IN  SOA dc.${domain}. hostmaster.${domain}. (`,
      ...['88           ; serial number', '900          ; refresh', '600          ; retry'],
      ...['86400        ; expire', '3600       ) ; default TTL', ''],
      ...[
        ';',
        ';  Zone NS records',
        ';',
        '',
        `@                       NS\tdc.${domain}.`,
        `@                       NS\tdc2.${domain}.`,
      ],
      ...[
        '',
        ';',
        ';  WINS lookup record',
        ';',
        '',
        '@                       0\tWINS\tL1 C900 ( 192.0.2.33 )',
      ],
      ...['', ';', ';  Zone records', ';', ''],
    ];
    for (const [name, group] of groupedBy(records, (record) => record.name)) {
      for (const [i, record] of group.entries()) {
        const { type, ttl, text } = record;
        const age = type === 'A' && lines.length % 3 === 0 ? '[AGE:3700001]\t' : '';
        const time = ttl === 3600 ? '' : `${ttl}\t`;
        const isUnknown = UNKNOWN_TO_WINDOWS.includes(type);
        const shown = isUnknown ? `TYPE${typeCode(type)}` : type;
        const known = text === undefined ? contentOf(record) : `( ${quoted(text, 10).join(' ')} )`;
        const content = isUnknown ? printGeneric(rdataOf(record)) : known;
        lines.push(`${(i === 0 ? name : '').padEnd(24)}${age}${time}${shown}\t${content}`);
      }
    }
    return lines.join('\r\n');
  },
};

const CPANEL: ProviderForm = {
  ...{ provider: 'cPanel', addDots: false, saysProxied: false, others: 3 },
  write({ domain, records }) {
    const lines = [
      '; cPanel first:110.0.12 (update_time):1732089600 Cpanel::ZoneFile::VERSION:1.3 hostname:server.host.example latest:110.0.17',
      ...[`; Zone file for ${domain}`, '$TTL 14400'],
      `${domain}.\t86400\tIN\tSOA\tns1.host.example.\troot.server.host.example.\t(`,
      ...[
        '2026112001 ;Serial Number',
        '3600 ;refresh',
        '1800 ;retry',
        '1209600 ;expire',
        '86400 ;minimum',
      ].map((line) => `\t\t\t\t\t\t${line}`),
      '\t\t)',
      ...['ns1', 'ns2'].map((ns) => `${domain}.\t86400\tIN\tNS\t${ns}.host.example.`),
    ];
    for (const [i, record] of records.entries()) {
      const { name, type, ttl, text } = record;
      const owner = i % 2 === 0 || name === '@' ? fullOwner(name, domain) : name;
      const strings = text === undefined ? [] : quoted(text, 10);
      const content = strings.length > 1 ? `( ${strings.join('\n\t\t\t\t')} )` : contentOf(record);
      lines.push(`${owner}\t${ttl === 14_400 ? '' : `${ttl}\t`}IN\t${type}\t${content}`);
    }
    return `${lines.join('\n')}\n`;
  },
};

export const PROVIDER_FORMS: readonly ProviderForm[] = [CLOUDFLARE, ROUTE53, GODADDY, WINDOWS, CPANEL];
