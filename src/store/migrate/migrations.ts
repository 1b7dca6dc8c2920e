// Every migration by name. A released migration is never edited; new ones are added at the end, here and in
// schema-version.ts.

import type { Migration } from 'kysely';
import type { MigrationName } from '../postgres/schema-version.ts';
import * as operatorZones from './migrations/0001-operator-zones.ts';
import * as customerDomains from './migrations/0002-customer-domains.ts';
import * as rateLimits from './migrations/0003-rate-limits.ts';
import * as nameMarks from './migrations/0004-name-marks.ts';
import * as delegations from './migrations/0005-delegations.ts';
import * as plannedCheck from './migrations/0006-planned-check.ts';
import * as unservedZones from './migrations/0007-unserved-zones.ts';
import * as checks from './migrations/0008-checks.ts';
import * as txtScansAname from './migrations/0009-txt-scans-aname.ts';
import * as keptAnswers from './migrations/0010-kept-answers.ts';
import * as maxDomains from './migrations/0011-max-domains.ts';
import * as roles from './migrations/0013-roles.ts';
import * as splitDomains from './migrations/0014-split-domains.ts';
import * as nameserverPool from './migrations/0015-nameserver-pool.ts';
import * as claims from './migrations/0016-claims.ts';
import * as childChecks from './migrations/0017-child-checks.ts';
import * as fairShares from './migrations/0018-fair-shares.ts';
import * as trustAnchors from './migrations/0019-trust-anchors.ts';
import * as vantages from './migrations/0020-vantages.ts';
import * as askedNames from './migrations/0021-asked-names.ts';
import * as txtClaims from './migrations/0022-txt-claims.ts';
import * as steadyNames from './migrations/0023-steady-and-swept-names.ts';
import * as sessions from './migrations/0030-sessions.ts';
import * as callWindows from './migrations/0032-call-windows.ts';
import * as plans from './migrations/0034-plans.ts';
import * as movedDomains from './migrations/0040-moved-domains.ts';
import * as takeoverMails from './migrations/0041-takeover-mails.ts';
import * as invites from './migrations/0042-invites.ts';
import * as audit from './migrations/0044-audit.ts';
import * as administration from './migrations/0045-administration.ts';
import * as auditOfMovedDomains from './migrations/0046-audit-of-moved-domains.ts';
import * as dnssec from './migrations/0047-dnssec.ts';
import * as hashedNames from './migrations/0048-hashed-names.ts';
import * as dnssecLooks from './migrations/0049-dnssec-looks.ts';
import * as denialChange from './migrations/0050-denial-change.ts';
import * as signals from './migrations/0051-signals.ts';
import * as edges from './migrations/0052-edges.ts';
import * as rules from './migrations/0053-rules.ts';
import * as certificates from './migrations/0054-certificates.ts';
import * as edgeSets from './migrations/0055-edge-sets.ts';
import * as recommendations from './migrations/0056-recommendations.ts';
import * as cachePurges from './migrations/0057-cache-purges.ts';
import * as edgeBatches from './migrations/0058-edge-batches.ts';
import * as dnsCounts from './migrations/0059-dns-counts.ts';
import * as cachedEntries from './migrations/0060-cached-entries.ts';
import * as webhooks from './migrations/0061-webhooks.ts';
import * as uptime from './migrations/0062-uptime.ts';
import * as trafficMails from './migrations/0064-traffic-mails.ts';
import * as wallets from './migrations/0065-wallets.ts';
import * as payments from './migrations/0066-payments.ts';
import * as tickets from './migrations/0067-tickets.ts';
import * as resellers from './migrations/0068-resellers.ts';
import * as debts from './migrations/0069-debts.ts';
import * as moneyBack from './migrations/0070-money-back.ts';
import * as foundDomains from './migrations/0071-found-domains.ts';
import * as breakerFreezes from './migrations/0072-breaker-freezes.ts';
import * as moreRecordTypes from './migrations/0073-more-record-types.ts';
import * as edgeCalls from './migrations/0074-edge-calls.ts';
import * as recordHosts from './migrations/0075-record-hosts.ts';
import * as approvalsAhead from './migrations/0077-approvals-ahead.ts';

export const migrations: Readonly<Record<MigrationName, Migration>> = {
  '0001-operator-zones': operatorZones,
  '0002-customer-domains': customerDomains,
  '0003-rate-limits': rateLimits,
  '0004-name-marks': nameMarks,
  '0005-delegations': delegations,
  '0006-planned-check': plannedCheck,
  '0007-unserved-zones': unservedZones,
  '0008-checks': checks,
  '0009-txt-scans-aname': txtScansAname,
  '0010-kept-answers': keptAnswers,
  '0011-max-domains': maxDomains,
  '0013-roles': roles,
  '0014-split-domains': splitDomains,
  '0015-nameserver-pool': nameserverPool,
  '0016-claims': claims,
  '0017-child-checks': childChecks,
  '0018-fair-shares': fairShares,
  '0019-trust-anchors': trustAnchors,
  '0020-vantages': vantages,
  '0021-asked-names': askedNames,
  '0022-txt-claims': txtClaims,
  '0023-steady-and-swept-names': steadyNames,
  '0030-sessions': sessions,
  '0032-call-windows': callWindows,
  '0034-plans': plans,
  '0040-moved-domains': movedDomains,
  '0041-takeover-mails': takeoverMails,
  '0042-invites': invites,
  '0044-audit': audit,
  '0045-administration': administration,
  '0046-audit-of-moved-domains': auditOfMovedDomains,
  '0047-dnssec': dnssec,
  '0048-hashed-names': hashedNames,
  '0049-dnssec-looks': dnssecLooks,
  '0050-denial-change': denialChange,
  '0051-signals': signals,
  '0052-edges': edges,
  '0053-rules': rules,
  '0054-certificates': certificates,
  '0055-edge-sets': edgeSets,
  '0056-recommendations': recommendations,
  '0057-cache-purges': cachePurges,
  '0058-edge-batches': edgeBatches,
  '0059-dns-counts': dnsCounts,
  '0060-cached-entries': cachedEntries,
  '0061-webhooks': webhooks,
  '0062-uptime': uptime,
  '0064-traffic-mails': trafficMails,
  '0065-wallets': wallets,
  '0066-payments': payments,
  '0067-tickets': tickets,
  '0068-resellers': resellers,
  '0069-debts': debts,
  '0070-money-back': moneyBack,
  '0071-found-domains': foundDomains,
  '0072-breaker-freezes': breakerFreezes,
  '0073-more-record-types': moreRecordTypes,
  '0074-edge-calls': edgeCalls,
  '0075-record-hosts': recordHosts,
  '0077-approvals-ahead': approvalsAhead,
};
