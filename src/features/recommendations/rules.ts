// Decides which changes to a domain are recommended.

export const RECOMMENDATION_CODES = [
  'ds_mismatch',
  'dangling_cname',
  'missing_spf',
  'missing_dmarc',
  'proxied_without_certificate',
  'plan_nearly_used',
  'unsigned',
  'missing_caa',
  'missing_aaaa',
] as const;
type RecommendationCode = (typeof RECOMMENDATION_CODES)[number];

export interface Recommendation {
  readonly code: RecommendationCode;
  readonly severity: 'info' | 'warning' | 'error';
  readonly message: string;
  /** How to fix the problem. */
  readonly fix: string;
  /** Identifies the subject of the recommendation, which stays dismissed while its subject is unchanged. */
  readonly subject: string;
}

/** Contents of the zone, if Zonefleet answers for it. Names are sorted, and have no final dot. */
export interface ZoneFacts {
  /** True if the domain receives mail: it has an MX with a host (RFC 7505). */
  readonly hasMail: boolean;
  /** TXT records at the apex and at `_dmarc`, each as one text. */
  readonly apexTexts: readonly string[];
  readonly dmarcTexts: readonly string[];
  /** True if `_dmarc` is an alias or delegated, so that its policy is published elsewhere. */
  readonly dmarcIsElsewhere: boolean;
  readonly hasCaa: boolean;
  /** Aliases to names of the same domain that have no records. */
  readonly dangling: readonly string[];
  /** The apex and `www`, if they have an IPv4 address but no IPv6 address. */
  readonly withoutIpv6: readonly string[];
}

export interface DomainFacts {
  readonly domain: string;
  /** Undefined if other operators answer for the domain. */
  readonly zone: ZoneFacts | undefined;
  /** True if the parent delegates to the fleet. */
  readonly isActive: boolean;
  readonly isSigned: boolean;
  /** Errors in the parent's DS records, as sentences. */
  readonly wrongDs: readonly string[];
  /** Proxied names that no certificate in force covers, sorted. */
  readonly uncovered: readonly string[];
  readonly hasCertificate: boolean;
  /** Usage of the plan's limits. */
  readonly used: readonly { readonly what: string; readonly amount: number; readonly most: number }[];
}

/** Fraction of a limit from which it counts as nearly used. */
const NEARLY = 0.9;
const MOST_NAMES = 5;

/** Returns the most severe recommendations first. */
export function recommend(facts: DomainFacts): Recommendation[] {
  return [...ofKeys(facts), ...ofZone(facts), ...ofCertificate(facts), ...ofPlan(facts)].sort(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
  );
}

const SEVERITIES = ['error', 'warning', 'info'];

function* ofKeys({ zone, isActive, isSigned, wrongDs, domain }: DomainFacts): Generator<Recommendation> {
  if (wrongDs.length > 0)
    yield {
      code: 'ds_mismatch',
      severity: 'error',
      message: wrongDs.join(' '),
      fix: 'Enter the DS records that the DNSSEC page of the domain shows at the registrar, and remove the others.',
      subject: wrongDs.join(' '),
    };
  if (zone !== undefined && isActive && !isSigned)
    yield {
      code: 'unsigned',
      severity: 'info',
      message: `${domain} is not signed: resolvers cannot distinguish forged answers from genuine ones.`,
      fix: 'Enable DNSSEC for the domain, and enter the DS record at the registrar when it is requested.',
      subject: '',
    };
}

function* ofZone({ zone, domain }: DomainFacts): Generator<Recommendation> {
  if (zone === undefined) return;
  const { dangling, withoutIpv6 } = zone;
  if (dangling.length > 0)
    yield {
      code: 'dangling_cname',
      severity: 'warning',
      message: `${inWords(dangling)} ${dangling.length === 1 ? 'points' : 'point'} to names of ${domain} that have no records.`,
      fix: 'Create records at the names that the aliases point to, or remove the aliases.',
      subject: dangling.join(' '),
    };
  if (zone.hasMail && !zone.apexTexts.some(isSpf))
    yield {
      code: 'missing_spf',
      severity: 'warning',
      message: `${domain} receives mail, but does not declare which servers send its mail: others may send in its name.`,
      fix: `Create a TXT record at ${domain} with the SPF policy of your mail service, for example "v=spf1 mx -all".`,
      subject: '',
    };
  if (zone.hasMail && !zone.dmarcIsElsewhere && !zone.dmarcTexts.some(isDmarc))
    yield {
      code: 'missing_dmarc',
      severity: 'warning',
      message: `${domain} does not declare what receivers should do with forged mail in its name.`,
      fix: `Create a TXT record at _dmarc.${domain}, for example "v=DMARC1; p=quarantine".`,
      subject: '',
    };
  if (!zone.hasCaa)
    yield {
      code: 'missing_caa',
      severity: 'info',
      message: `Any certificate authority may issue certificates for ${domain}.`,
      fix: `Create a CAA record at ${domain} that names the authorities of your choice.`,
      subject: '',
    };
  if (withoutIpv6.length > 0)
    yield {
      code: 'missing_aaaa',
      severity: 'info',
      message: `${inWords(withoutIpv6)} ${withoutIpv6.length === 1 ? 'has' : 'have'} no IPv6 address.`,
      fix: 'Create an AAAA record, or let the edges answer for the name (proxied).',
      subject: withoutIpv6.join(' '),
    };
}

function* ofCertificate({ uncovered, hasCertificate }: DomainFacts): Generator<Recommendation> {
  if (uncovered.length === 0) return;
  yield {
    code: 'proxied_without_certificate',
    severity: 'warning',
    message: hasCertificate
      ? `HTTPS does not work for ${inWords(uncovered)}: the certificate is for other names.`
      : `HTTPS does not work for ${inWords(uncovered)}: there is no certificate.`,
    fix: 'Order a certificate, or upload your own.',
    subject: uncovered.join(' '),
  };
}

function* ofPlan({ used }: DomainFacts): Generator<Recommendation> {
  const full = used.filter(({ amount, most }) => most > 0 && amount >= NEARLY * most);
  if (full.length === 0) return;
  const list = full.map(({ what, amount, most }) => `${amount} of ${most} ${what}`);
  yield {
    code: 'plan_nearly_used',
    severity: 'info',
    message: `The domain uses ${list.join(' and ')} of its plan.`,
    fix: 'Remove what is not needed, or choose a larger plan.',
    subject: full.map(({ what, most }) => `${what} ${most}`).join(' '),
  };
}

/** RFC 7208 §4.5: the version ends the text, or a space follows. */
function isSpf(text: string): boolean {
  return /^v=spf1( |$)/i.test(text);
}

/** RFC 7489 §6.3: the version comes first, and its value is uppercase. */
function isDmarc(text: string): boolean {
  return /^v[ \t]*=[ \t]*DMARC1[ \t]*(;|$)/.test(text);
}

function inWords(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES);
  const more = names.length - shown.length;
  if (more > 0) return `${shown.join(', ')} and ${more} more`;
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}` : (shown[0] ?? '');
}
