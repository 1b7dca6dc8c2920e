// Prints the records of a list as JSON directly from their rows, if the row is sufficient. The text is the same as that of the
// printer and the schema, and takes a fraction of the time.

import {
  DEFAULTS,
  decodeMoment,
  type RecordJson,
  type SettingsJson,
} from '../../store/records/record-row.ts';
import type { ApiType } from '../../zone/records/customer-types.ts';

interface Owner {
  readonly id: number;
  readonly accountId: number;
}

/** Characters that need no escaping in columns, responses and JSON. */
const PLAIN_NAME = /^[a-z0-9_./-]+$/;
const PLAIN_HOST = /^[A-Za-z0-9_./-]+$/;
const PLAIN_TEXT = /^[ !#-[\]-~]+$/;
const MAX_STRING_OCTETS = 255; // RFC 1035 §3.3: longer text is split into several strings

/**
 * Returns a function that prints a row, and returns undefined if the row is not sufficient. `apex` is the name of the domain
 * in the form of its column.
 */
export function plainRecordPrinter(owner: Owner, apex: string): (row: RecordJson) => string | undefined {
  const owned = `"user_id":${owner.accountId},"domain_id":${owner.id},"dns_content":"`;
  const withDefaults = `,${DEFAULT_TEXT},${owned}`;
  const dotApex = `.${apex}`;
  let [createdAt, created] = ['', ''];
  return (row) => {
    const [id, name, type, , ttl, settings, rowCreatedAt, updatedAt, managed, destination] = row;
    if (settings?.[0] === true) return undefined; // proxied
    const content = plainContent(type, destination);
    if (content === undefined || !PLAIN_NAME.test(name)) return undefined;
    const relative = name === apex ? '@' : name.slice(0, -dotApex.length);
    if (relative.length >= apex.length - 1 && `.${relative}.`.endsWith(dotApex)) return undefined; // it would be read as a full name
    if (rowCreatedAt !== createdAt) {
      createdAt = rowCreatedAt;
      created = decodeMoment(createdAt);
    }
    const kept = settings === null ? withDefaults : `,${printSettings(settings)},${owned}`;
    const updated = updatedAt === null ? created : decodeMoment(updatedAt);
    return `{"id":${id},"name":"${relative}","original_name":"${name}","type":"${type}","destination":"${destination}","ttl":${ttl}${kept}${type === 'TXT' ? `\\"${content}\\"` : content}","editable":${managed ? 'false' : 'true'},"created_at":"${created}","updated_at":"${updated}"}`;
  };
}

/** Returns the content in zone file format, without the quotes of a TXT record. Undefined if the text needs escaping. */
export function plainContent(type: ApiType, destination: string): string | undefined {
  switch (type) {
    case 'A':
    case 'AAAA':
      return destination;
    case 'CNAME':
    case 'NS':
    case 'PTR':
      if (!PLAIN_HOST.test(destination)) return undefined;
      return destination.endsWith('.') ? destination : `${destination}.`;
    case 'TXT':
      if (destination.length > MAX_STRING_OCTETS || !PLAIN_TEXT.test(destination)) return undefined;
      return destination;
    default:
      return undefined;
  }
}

function printSettings(settings: SettingsJson): string {
  const [proxied, captcha, scheme, port, hostHeader, monitor, destCountry, timeout, comment] = settings;
  const host = hostHeader === null ? '' : `,"host_header":${JSON.stringify(hostHeader)}`;
  const country = destCountry === null ? '' : `,"dest_country":"${destCountry}"`;
  const noted = comment === null ? '' : `,"comment":${JSON.stringify(comment)}`;
  return `"proxied":${proxied},"captcha":${captcha},"scheme":"${scheme}","port":${port}${host},"monitor":${monitor}${country},"timeout":${timeout}${noted}`;
}

const DEFAULT_TEXT = printSettings(DEFAULTS);
