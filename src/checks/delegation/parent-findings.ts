// Findings about the zones above a domain and about the check itself, which the owner cannot change at the registrar.

import type { Name } from '../../dns/name.ts';
import type { Need } from './evidence.ts';
import { type Finding, type FindingCode, finding, NOTHING_TO_CHANGE } from './finding.ts';
import { list, print, type Said, saidText, seenText } from './finding-text.ts';
import type { Seen, VoiceView } from './seen.ts';

const NEED_TEXTS: Readonly<Record<Need, string>> = {
  tcp: 'over TCP',
  no_edns: 'without EDNS',
  lower_case: 'in lower case',
};

export const PARENT_FINDINGS = {
  PARENT_UNREACHABLE: (zone: Name) =>
    finding(
      'PARENT_UNREACHABLE',
      `We could not check this domain, because no nameserver of the zone ${print(zone)} gave a usable answer. ${NOTHING_TO_CHANGE}`,
    ),
  PARENT_LAME: (zone: Name) =>
    finding(
      'PARENT_LAME',
      `We could not check this domain, because the nameservers that we queried for the zone ${print(zone)} do not serve it. ${NOTHING_TO_CHANGE}`,
    ),
  PARENT_BOGUS: (zone: Name) =>
    finding(
      'PARENT_BOGUS',
      `We could not check this domain, because the signatures (DNSSEC) of the zone ${print(zone)} are wrong or missing, so its answers may be forged. ${NOTHING_TO_CHANGE}`,
    ),
  VALIDATION_LIMIT: (zone: Name) =>
    finding(
      'VALIDATION_LIMIT',
      `We could not check this domain, because verifying the signatures (DNSSEC) of the zone ${print(zone)} exceeds the work limit of a check. The manager of that zone can reduce the number of its keys and signatures.`,
    ),
  PARENT_FAILS: (parent: Name, servers: readonly Name[]) =>
    finding(
      'PARENT_FAILS',
      `Some nameservers of the zone ${print(parent)} gave no usable answer at one or more of their addresses: ${list(servers)}. ${NOTHING_TO_CHANGE}`,
      servers,
    ),
  PARENTS_DISAGREE: (parent: Name, said: readonly Said[]) =>
    finding(
      'PARENTS_DISAGREE',
      `The nameservers of the zone ${print(parent)} give different answers for this domain, possibly because a recent change has not reached all of them yet: ${said.map(saidText).join('; ')}. ${NOTHING_TO_CHANGE}`,
    ),
  PARENT_SETS_AA: (parent: Name) =>
    finding(
      'PARENT_SETS_AA',
      `The nameservers of the zone ${print(parent)} mark the delegation of this domain as their own answer (AA). We treat it as a delegation, as resolvers do. You do not need to change anything at your registrar.`,
    ),
  PARENT_AWKWARD: (parent: Name, servers: readonly Name[], needs: readonly Need[]) =>
    finding(
      'PARENT_AWKWARD',
      `Some nameservers of the zone ${print(parent)} did not answer an ordinary query. They answered ${needs.map((need) => NEED_TEXTS[need]).join(' or ')}: ${list(servers)}. You do not need to change anything at your registrar.`,
      servers,
    ),
  PARENT_HOLDS_CHILD: (parent: Name) =>
    finding(
      'PARENT_HOLDS_CHILD',
      `The nameservers of the zone ${print(parent)} also have a zone of this domain and answer from it instead of referring to its nameservers. We compared that zone’s own NS records. The manager of those nameservers should remove the zone of this domain there, so that visitors reach ours.`,
    ),
  OWN_ANSWER: (parent: Name) =>
    finding(
      'OWN_ANSWER',
      `The nameservers of the zone ${print(parent)} answer for this domain themselves, so we cannot see if it is delegated to us. The manager of that zone must delegate this domain with NS records there.`,
    ),
  UNCONFIRMED: (parent: Name) =>
    finding(
      'UNCONFIRMED',
      `So far, only one nameserver address of the zone ${print(parent)} shows this. The status changes when a second address shows the same. ${NOTHING_TO_CHANGE}`,
    ),
  WALK_LIMIT: (zone: Name) =>
    finding(
      'WALK_LIMIT',
      `We could not check this domain, because finding its nameservers takes more queries or time than a check may use. The check stopped at the zone ${print(zone)}. The managers of the zones from there on can shorten the chain of delegations.`,
    ),
  DELEGATION_LOOP: (zone: Name) =>
    finding(
      'DELEGATION_LOOP',
      `We could not check this domain, because nameservers below the zone ${print(zone)} refer to each other in a circle. The managers of these zones must correct this.`,
    ),
  TRY_LATER: (zone: Name) =>
    finding(
      'TRY_LATER',
      `We ended this check early, because the nameservers of the zone ${print(zone)} answered slowly while many other checks were slow too. ${NOTHING_TO_CHANGE}`,
    ),
  MOVES_HELD: () =>
    finding(
      'MOVES_HELD',
      `This domain keeps its status for now, because the check results of unusually many domains changed at the same time. ${NOTHING_TO_CHANGE}`,
    ),
  ROOT_FAULT: () =>
    finding(
      'ROOT_FAULT',
      `This domain keeps its status for now, because we currently cannot verify the signatures of the DNS root. ${NOTHING_TO_CHANGE}`,
    ),
  VANTAGES_DISAGREE: (parent: Name | undefined, here: Seen, views: readonly VoiceView[]) => {
    const seen = views.filter(({ kind }) => kind !== 'nothing');
    const zone = parent === undefined ? 'above it' : print(parent);
    return finding(
      'VANTAGES_DISAGREE',
      `This domain keeps its status for now. Before a status changes, we query the zone ${zone} from several locations, and their results differ. From here: ${seenText(here)}${seen.map((view) => `; from ${view.label}: ${seenText(view)}`).join('')}. A recent change may not have reached every nameserver of that zone yet. ${NOTHING_TO_CHANGE}`,
    );
  },
  VANTAGES_AWAY: () =>
    finding(
      'VANTAGES_AWAY',
      `This domain keeps its status for now. Before a status changes, we check from several locations, and too few of them responded. ${NOTHING_TO_CHANGE}`,
    ),
} satisfies Partial<Record<FindingCode, (...args: never[]) => Finding>>;
