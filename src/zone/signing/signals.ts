// The names at which a nameserver vouches for a domain that awaits its first DS (RFC 9615 §2): the same CDS and CDNSKEY as at
// the domain's apex, below `_signal.` of the nameserver's name, in a zone that is signed already.

import { MAX_NAME_OCTETS, type Name, parentOf, prependLabel, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ZoneRecord } from '../zone.ts';

const SIGNAL_LABEL = '_signal';
const BOOT_LABEL = '_dsboot';
const SIGNAL_START = `${String.fromCharCode(SIGNAL_LABEL.length)}${SIGNAL_LABEL}`;
const BOOT_START = `${String.fromCharCode(BOOT_LABEL.length)}${BOOT_LABEL}`;

/** The zone for the signals of a nameserver; undefined: its name would be too long. */
export function signalZone(host: Name): Name | undefined {
  return prependLabel(SIGNAL_LABEL, host);
}

function isSignalZone(apex: Name): boolean {
  return apex.startsWith(SIGNAL_START);
}

/** Where the zone of a nameserver signals for a domain; undefined: the name would be too long (RFC 9615 §4.2). */
export function signalName(domain: Name, zone: Name): Name | undefined {
  const name = BOOT_START + domain.slice(0, -ROOT.length) + zone;
  return name.length > MAX_NAME_OCTETS ? undefined : (name as Name);
}

/** The domain that a name in the zone signals for; undefined: none. */
export function domainOfSignal(owner: Name, zone: Name): Name | undefined {
  if (!owner.startsWith(BOOT_START) || !owner.endsWith(zone)) return undefined;
  const labels = parentOf(owner).slice(0, -zone.length);
  return labels === '' ? undefined : ((labels + ROOT) as Name);
}

/** Whether the fleet writes a record by itself, whatever the file of an operator zone has. */
export function isSignal(apex: Name, { owner, type }: Pick<ZoneRecord, 'owner' | 'type'>): boolean {
  const isCopy = type === TYPE.CDS || type === TYPE.CDNSKEY;
  return isCopy && isSignalZone(apex) && domainOfSignal(owner, apex) !== undefined;
}
