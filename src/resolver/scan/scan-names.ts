// Suggests names to query because another name exists: names below it, and next to it.

import { labelsOf, type Name } from '../../dns/name.ts';
import { list, set } from './scan-kind.ts';

/** Properties of an existing name. */
interface KnownName {
  /** True if the name has its own records. If not, there is another name below it (RFC 8020). */
  readonly hasRecords: boolean;
  readonly hasAddress: boolean;
  readonly takesMail: boolean;
}

/** Labels of places and stages below which groups of hosts are named. */
const GROUPS =
  set(`dev development staging stage stg test testing tst acc acceptance qa uat prod production pre preprod demo
  sandbox sb beta lab labs preview internal int intern corp office local lan infra ops cloud k8s kube cluster eu us
  uk de ap asia emea apac us-east us-west eu-west east west apps services svc srv vpn ad dc mgmt oob net noc
  platform saas customers clients tenant tenants customer client edge aws gcp azure hpc cluster`);

/** If a group has its own records, these labels are tried first. The others follow if one of these exists. */
const FIRST_BELOW_GROUP =
  list(`www api app admin web mail auth db portal dashboard cdn static git gitlab grafana test dev staging
  prod status login login1 login01 cms sso vpn docs monitoring jenkins argocd vault registry ws backend node1 gw`);
const BELOW_GROUP = [
  ...FIRST_BELOW_GROUP,
  ...list(`prometheus ci frontend kibana monitor redis postgres mysql s3 shop blog m img files smtp ns1 ns2 dc1 dc01 node2
  eu us a b 1 2 v1 v2`),
];

/** Labels below which an organisation has its Active Directory. */
const DIRECTORIES = set(
  `ad ads adds corp int internal intern intra intranet local lan win windows office hq dom domain ds`,
);
const BELOW_DIRECTORY = list('_msdcs _tcp dc1 dc01');

/** Labels of departments that have their own site and mail. */
const DEPARTMENTS =
  set(`cs cse csc ee ece eecs me math maths phys physics chem chemistry bio biology econ economics business law med
  medicine eng engineering stat stats psych psychology history arts music education edu library lib alumni research
  students student staff faculty it ict informatik informatics school humanities science`);
const BELOW_DEPARTMENT = list('mail web ftp intranet wiki');

/** Labels below which each customer, branch or user has a name, usually by a wildcard. */
const HOMES =
  set(`app apps api customer customers client clients tenant tenants preview previews pr dev staging stage test qa demo
  sandbox prod cloud sites site pages my user users shops hosted eu us teams workspace spaces k8s lab internal`);

const GAMES = set(
  `play mc minecraft survival skyblock lobby hub creative smp vanilla bedrock java server prison`,
);

const BELOW_APP = list('v1 v2 dev staging test');

const BASES = set('api app www admin portal shop web auth dashboard backend cdn static my login store');
const STAGES = list('dev staging test stage beta demo');

const NUMBERED =
  set(`mail mx ns web www smtp server vpn app api db node host dns srv cdn img static test dev demo staging
  backup ftp relay gw fw dc lb proxy vm esx pve cam sip pbx mta media stream worker k8s redis mongo kafka es s box`);

/** Names that do not indicate further names next to them. */
const PLAIN_BELOW = /^(www|\*|_.*)$/;
const MAX_NUMBER = 400;

/** Returns labels, or names relative to the existing name. */
export function namesBelow(label: string, { hasRecords, hasAddress, takesMail }: KnownName): string[] {
  const names = ['*'];
  if (hasAddress || takesMail) names.push('www');
  if (takesMail || !hasRecords) names.push('_dmarc', '_domainkey');
  if (takesMail) names.push('autodiscover');
  if (GAMES.has(label)) names.push('_minecraft._tcp');
  if (DIRECTORIES.has(label)) names.push(...BELOW_DIRECTORY);
  if (DEPARTMENTS.has(label)) names.push(...BELOW_DEPARTMENT);
  if (!hasRecords) names.push('_tcp');
  if (!hasRecords) names.push(...BELOW_GROUP);
  else if (GROUPS.has(label)) names.push(...FIRST_BELOW_GROUP);
  else if (BASES.has(label)) names.push(...BELOW_APP);
  return names;
}

/** True if there may be a wildcard below such a name, even if another one above it generates or hides the name. */
export function isHome(label: string): boolean {
  return HOMES.has(label);
}

/** Returns more names to try after a name was found below one that did not look like a group. */
export function namesBesides(found: string): readonly string[] {
  return PLAIN_BELOW.test(found) ? [] : BELOW_GROUP;
}

/** Returns likely siblings of an existing label: numbered hosts, and stages. */
export function labelsBeside(label: string): string[] {
  const numbered = /^(.*?)([0-9]{1,4})([^0-9]*)$/.exec(label);
  if (numbered !== null) {
    const [, head = '', digits = '', tail = ''] = numbered;
    const number = Number(digits);
    return [number - 1, number + 1, number - 2, number + 2]
      .filter((each) => each >= 0 && each <= MAX_NUMBER)
      .map((each) => `${head}${String(each).padStart(digits.length, '0')}${tail}`);
  }
  const beside = NUMBERED.has(label) ? [`${label}1`, `${label}2`, `${label}01`] : [];
  if (BASES.has(label)) for (const stage of STAGES) beside.push(`${label}-${stage}`, `${stage}-${label}`);
  return beside;
}

/** RFC 1035 §3.5, RFC 3596 §2.5. */
export function reverseLabels(domain: Name): string[] {
  return labelsOf(domain).at(-2) === 'ip6'
    ? [...'0123456789abcdef']
    : Array.from({ length: 256 }, (_, i) => String(i));
}

/** Returns the number of labels in the name of a complete address. */
export function reverseDepth(domain: Name): number {
  return labelsOf(domain).at(-2) === 'ip6' ? 34 : 6;
}
