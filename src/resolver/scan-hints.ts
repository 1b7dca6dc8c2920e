// What kind of zone it is, told by names that are there, and the names that such zones have. They are many, and in other zones
// they would all be asked for in vain. Pure.

import { labelsOf, type Name } from '../dns/name.ts';
import { AD_SERVICES } from './scan-services.ts';

interface Kind {
  /** Labels directly below the domain, and how many of them there have to be. */
  readonly signs: ReadonlySet<string>;
  readonly needed: number;
  /** A domain of which nothing has to be seen first. */
  readonly domains?: RegExp;
  readonly names: readonly string[];
}

const UNIVERSITY: Kind = {
  signs:
    set(`library lib moodle eduroam canvas blackboard bb alumni registrar faculty student students campus ecampus
    cs math physics chem bio engineering law med medicine edu elearning lms courses admission admissions research academic
    university univ college sis exam exams hostel phd dspace eprints opac shibboleth wayf grad scholar humanities`),
  needed: 2,
  domains:
    /(^|\.)(edu(\.[a-z]{2})?|ac\.[a-z]{2})$|(^|\.)(uni|univ|tu|fh)-[^.]+\.|universit|college|hochschule/,
  names: list(`
    eduroam sso idp shibboleth wayf cas adfs login weblogin webauth netid identity my mycampus portal
    lib library libraries libproxy ezproxy proxy opac catalog catalogue archives
    repository dspace eprints digital scholar theses etd journals ojs publications
    books moodle canvas blackboard bb lms elearning learn learning vle courses course
    classroom online panopto kaltura mediasite opencast video lecture lectures turnitin exam exams quiz
    schedule grades results sis banner peoplesoft campus ecampus studentportal student students stu mystudent
    registrar admissions admission apply enroll enrollment finaid housing hostel
    international career careers alumni giving faculty staff hr jobs people directory phonebook ldap
    research grants ethics hpc cluster computing gpu slurm jupyter jupyterhub lab labs data opendata
    gitlab git wiki mirror mirrors ftp software licenses matlab helpdesk servicedesk it its ict noc webmail
    mail smtp imap owa lists mailman vpn remote radius wifi
    cs csc cse ee ece eecs me mae ce civil chem chemistry phys physics astronomy bio biology genetics math maths
    mathematics stat stats statistics econ economics business bus mba law med medicine medical dental nursing pharmacy
    vet publichealth health psych psychology soc sociology politics philosophy history english eng
    engineering lang linguistics geography env environment art arts
    arch architecture design edu education sport sports athletics humanities hum science sci informatics
    mech materials ai robotics media journalism comm grad graduate gradschool phd
    school dept college institute centre clinic radio tv news events calendar
    maps map police safety security club clubs conference conferences
    people home users web www2 homepages blogs sites cms old intranet president provost
  `),
};

const DIRECTORY: Kind = {
  signs:
    set(`_msdcs _sites _ldap._tcp _kerberos._tcp _kerberos._udp _gc._tcp _kpasswd._tcp _kpasswd._udp adfs sts ad dc dc1
    dc2 dc01 dc02 ldap ldap1 lyncdiscover lyncdiscoverinternal sip lync wpad wsus exchange`),
  needed: 1,
  names: ['_msdcs', ...AD_SERVICES.map((each) => `${each}._msdcs`), 'domaindnszones', 'forestdnszones'],
};

const LANGUAGES =
  list(`en de fr es it pt nl pl ru ja jp zh cn ko kr ar tr sv se da dk no nb fi cs cz sk hu ro bg el gr he hi id
  th vi uk ua hr sr sl lt lv et ca fa ms my ph at ch be ie gb uk us au nz br mx cl co pe za in sg hk tw zh-cn zh-tw zh-hans
  pt-br es-mx en-gb en-us fr-ca latam global intl eu asia`);

const MANY_LANGUAGES: Kind = {
  signs: new Set(LANGUAGES),
  needed: 2,
  names: LANGUAGES,
};

const PRODUCT: Kind = {
  signs:
    set(`app api docs status dashboard console login auth accounts id developer developers help platform go my staging
    sandbox demo signup`),
  needed: 4,
  names: list(`
    accounts signin sso studio hub connect insights explore explorer builder editor designer player viewer workspace workspaces
    spaces teams people chat messaging inbox voice calls video meet rooms forms flows flow automation automations workflow
    workflows tasks boards agent agents copilot assistant mcp models playground sdk cli docs-api reference changelog roadmap
    ideas releases integrations marketplace apps plugins extensions templates widgets widget embed share invite invites links
    pages sites wallet cards pay payouts billing checkout invoices subscriptions risk identity verify kyc tax capital trust
    compliance security usage metering events ingest collect collector edge relay realtime socket sockets push notifications
    uploads assets usercontent content cdn2 preview previews sandbox2 labs beta canary next internal-api admin-api public-api
    gateway partner partners partner-api hooks callbacks customers tenants start welcome onboarding learn academy community
  `),
};

const KINDS: readonly Kind[] = [UNIVERSITY, DIRECTORY, MANY_LANGUAGES, PRODUCT];

export class ScanHints {
  readonly #domain: Name;
  readonly #seen = new Map<Kind, Set<string>>();
  readonly #told = new Set<Kind>();

  constructor(domain: Name) {
    this.#domain = domain;
  }

  /** Names relative to the domain, that its own name suggests. */
  ofDomain(): string[] {
    const domain = labelsOf(this.#domain).join('.');
    return KINDS.flatMap((kind) => (kind.domains?.test(domain) ? this.#tell(kind) : []));
  }

  /** Names relative to the domain, that a name which is there suggests. */
  of(name: Name): readonly string[] {
    const below = labelsOf(name).slice(0, -labelsOf(this.#domain).length).join('.');
    return KINDS.flatMap((kind) => {
      if (!kind.signs.has(below)) return [];
      const seen = this.#seen.get(kind) ?? new Set();
      this.#seen.set(kind, seen.add(below));
      return seen.size < kind.needed ? [] : this.#tell(kind);
    });
  }

  #tell(kind: Kind): readonly string[] {
    if (this.#told.has(kind)) return [];
    this.#told.add(kind);
    return kind.names;
  }
}

/** Where an alias leads shows who else had to be told about its name: below it, a text says so. `%` is the host's first label. */
const CLAIMS: readonly (readonly [end: string, name: string])[] = [
  ['azurewebsites.net', 'asuid'],
  ['azurecontainerapps.io', 'asuid'],
  ['azurefd.net', '_dnsauth'],
  ['azurestaticapps.net', '_dnsauth'],
  ['azureedge.net', 'cdnverify'],
  ['blob.core.windows.net', 'asverify'],
  ['github.io', '_github-pages-challenge-%'],
  ['gitlab.io', '_gitlab-pages-verification-code'],
  ['fly.dev', '_acme-challenge'],
  ['fly.dev', '_fly-ownership'],
  ['vercel-dns.com', '_vercel'],
  ['cdn.cloudflare.net', '_cf-custom-hostname'],
];

/** `target`: in lower case without a final dot. */
export function claimsOf(target: string): string[] {
  return CLAIMS.filter(([end]) => target.endsWith(`.${end}`)).map(([, name]) =>
    name.replace('%', target.slice(0, target.indexOf('.'))),
  );
}

function list(text: string): string[] {
  return [...new Set(text.trim().split(/\s+/))];
}

function set(text: string): ReadonlySet<string> {
  return new Set(list(text));
}
