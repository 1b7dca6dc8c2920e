// The names at which a nameserver signals for a domain that awaits its first DS (RFC 9615 §2): the CDS and CDNSKEY of
// the domain's apex, copied below `_signal.` of the nameserver's name, in a zone that is already signed.

import { MAX_NAME_OCTETS, type Name, parentOf, prependLabel, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ZoneRecord } from '../zone.ts';

const SIGNAL_LABEL = '_signal';
const BOOT_LABEL = '_dsboot';
const SIGNAL_START = `${String.fromCharCode(SIGNAL_LABEL.length)}${SIGNAL_LABEL}`;
const BOOT_START = `${String.fromCharCode(BOOT_LABEL.length)}${BOOT_LABEL}`;

/** Returns the zone for the signals of a nameserver. Returns undefined if its name would be too long. */
export function signalZone(host: Name): Name | undefined {
  return prependLabel(SIGNAL_LABEL, host);
}

function isSignalZone(apex: Name): boolean {
  return apex.startsWith(SIGNAL_START);
}

/** Returns the name at which a nameserver's zone signals for a domain, or undefined if it is too long (RFC 9615 §4.2). */
export function signalName(domain: Name, zone: Name): Name | undefined {
  const name = BOOT_START + domain.slice(0, -ROOT.length) + zone;
  return name.length > MAX_NAME_OCTETS ? undefined : (name as Name);
}

/** Returns the domain that a name in the zone signals for, or undefined. */
export function domainOfSignal(owner: Name, zone: Name): Name | undefined {
  if (!owner.startsWith(BOOT_START) || !owner.endsWith(zone)) return undefined;
  const labels = parentOf(owner).slice(0, -zone.length);
  return labels === '' ? undefined : ((labels + ROOT) as Name);
}

/** Returns true if the fleet writes a record automatically, regardless of the file of an operator zone. */
export function isSignal(apex: Name, { owner, type }: Pick<ZoneRecord, 'owner' | 'type'>): boolean {
  const isCopy = type === TYPE.CDS || type === TYPE.CDNSKEY;
  return isCopy && isSignalZone(apex) && domainOfSignal(owner, apex) !== undefined;
}
