// Evaluates each address of a zone's nameservers: whether it answers for the zone, over UDP and TCP, and with EDNS. Then
// compares the answers of all addresses.

import { compareNames, type Name, printName } from '../../dns/name.ts';
import type { AddressProbe, ChildEvidence, ProbeReply, SoaFields } from './evidence.ts';
import type { Observation } from './observation.ts';

const HOUR_SECONDS = 3600;
/** Range of serials that could be Unix times from 2001 on. Date-based serials such as 2024010100 are larger. */
const UNIX_SERIAL_FROM = 978_307_200;
const UNIX_SERIAL_TO = 1_980_000_000;

/** `own` are our nameservers. Their faults are reported to the operator. */
export function judgeServers({ addresses }: ChildEvidence, own: ReadonlySet<Name>): Observation[] {
  const asked = addresses.filter(({ isPrivate }) => !isPrivate);
  const isOurs = ({ servers }: AddressProbe) => servers.some((name) => own.has(name));
  const failing = asked.filter((probe) => isSilent(probe) || isLame(probe));
  const foreign = failing.filter((probe) => !isOurs(probe));
  const answering = asked.filter(({ soa }) => soa.outcome === 'answer');
  const differ = (probe: AddressProbe) => !sameOverTcp(probe);
  const apart = (code: Observation['code'], probes: readonly AddressProbe[]) => [
    ...atAddresses(code, probes.filter(isOurs).map(onlyOurs(own))),
    ...atAddresses(
      code,
      probes.filter((probe) => !isOurs(probe)),
    ),
  ];
  return [
    ...apart(
      'PRIVATE_ADDRESS',
      addresses.filter(({ isPrivate }) => isPrivate),
    ),
    ...atAddresses('OUR_SERVERS_UNREACHABLE', failing.filter(isOurs)),
    ...atAddresses('SERVER_SILENT', foreign.filter(isSilent)),
    ...atAddresses(
      'SERVER_LAME',
      foreign.filter((probe) => !isSilent(probe)),
      whyLame,
    ),
    ...apart(
      'TCP_REFUSED',
      answering.filter(({ tcp }) => isNoReply(tcp)),
    ),
    ...apart('UDP_TCP_DIFFER', answering.filter(differ)),
    ...apart(
      'EDNS_BROKEN',
      asked.filter(({ edns }) => edns === 'refused' || edns === 'silent'),
    ),
    ...setsDiffer(asked),
    ...serialsDiffer(answering),
  ];
}

/** Keeps only our names for an address: owners of other names that share it cannot change our server. */
function onlyOurs(own: ReadonlySet<Name>) {
  return (probe: AddressProbe): AddressProbe => ({
    ...probe,
    servers: probe.servers.filter((name) => own.has(name)),
  });
}

function atAddresses(
  code: Observation['code'],
  probes: readonly AddressProbe[],
  print: (probe: AddressProbe) => string = ({ address }) => address,
): Observation[] {
  if (probes.length === 0) return [];
  return [{ code, names: namesOf(probes), detail: probes.map(print).join(', ') }];
}

function namesOf(probes: readonly AddressProbe[]): Name[] {
  return [...new Set(probes.flatMap(({ servers }) => servers))].sort(compareNames);
}

/** True if no readable reply arrived. */
function isNoReply({ outcome }: ProbeReply): boolean {
  return outcome === 'timeout' || outcome === 'bad';
}

function isSilent({ soa, ns, edns }: AddressProbe): boolean {
  if (edns === 'silent') return false; // it answers queries without EDNS
  return isNoReply(soa) || (soa.outcome === 'answer' && isNoReply(ns));
}

function isLame(probe: AddressProbe): boolean {
  if (isSilent(probe)) return false;
  return [probe.soa, probe.ns].some(({ outcome }) => outcome !== 'answer' && outcome !== 'unasked');
}

function whyLame({ address, soa, ns }: AddressProbe): string {
  const wrong = soa.outcome === 'answer' ? ns : soa;
  return `${address}: ${wrong.error ?? wrong.outcome}`;
}

/** The TCP query was sent later, so its serial may be newer but not older (RFC 1982 §3.2). */
function sameOverTcp({ soa, tcp }: AddressProbe): boolean {
  if (tcp.outcome === 'unasked' || isNoReply(tcp)) return true;
  if (tcp.outcome !== 'answer') return false;
  const [udp, other] = [soa.soa, tcp.soa];
  if (udp === undefined || other === undefined) return true;
  const isOlder = other.serial !== udp.serial && (other.serial - udp.serial) >>> 0 >= 2 ** 31;
  return !isOlder && (other.serial !== udp.serial || textOf(udp) === textOf(other));
}

function textOf({ mname, rname, refresh, retry, expire, minimum }: SoaFields): string {
  return JSON.stringify([printName(mname), printName(rname), refresh, retry, expire, minimum]);
}

function setsDiffer(probes: readonly AddressProbe[]): Observation[] {
  const answering = probes.filter(({ ns }) => ns.outcome === 'answer');
  const sets = new Set(answering.map(({ ns }) => [...(ns.ns ?? [])].sort(compareNames).join()));
  return sets.size > 1 ? [{ code: 'NS_SETS_DIFFER', names: namesOf(answering) }] : [];
}

function serialsDiffer(probes: readonly AddressProbe[]): Observation[] {
  const serials = [...new Set(probes.flatMap(({ soa }) => soa.soa?.serial ?? []))].sort((a, b) => a - b);
  const [lowest = 0] = serials;
  const highest = serials.at(-1) ?? 0;
  const areTimes = lowest >= UNIX_SERIAL_FROM && highest < UNIX_SERIAL_TO;
  const isDelay = areTimes && highest - lowest <= HOUR_SECONDS;
  if (serials.length < 2 || isDelay) return [];
  return [{ code: 'SERIALS_DIFFER', names: namesOf(probes), detail: serials.join(', ') }];
}
