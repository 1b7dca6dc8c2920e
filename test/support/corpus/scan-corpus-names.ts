// Names that owners give to what they run, for made zones: written down trade by trade from what such an organization has
// to name, not from any word list. The first words of a line are the usual ones, and drawn more often.

import { pick, type Random } from '../random/random-zones.ts';

export type Trade =
  | 'web'
  | 'mail'
  | 'office'
  | 'hosting'
  | 'shop'
  | 'product'
  | 'operations'
  | 'campus'
  | 'press'
  | 'language';

const WORDS: Readonly<Record<Trade, string>> = {
  web: `www blog m shop static cdn images img media old new beta dev test staging demo assets forum news web wiki mobile
    video preview stage files download downloads api app search events gallery landing archive www2 home site info start
    live tv radio photos maps link links go ww`,
  mail: `mail webmail smtp autodiscover imap pop autoconfig mail2 pop3 email mx relay mx1 mx2 owa exchange lists newsletter
    mailgate mail1 antispam spam send bounce ~bounces smtp2 out imap4 mailer mta calendar webmail2 smtps`,
  office: `vpn remote intranet portal cloud office support help server crm erp nextcloud citrix rdp helpdesk ticket tickets
    fileserver files share backup nas gateway gw owncloud print voip pbx sip phone fax firewall fw proxy extranet rdweb
    docs wiki projects time meet conference chat jobs career careers hr sharepoint terminal ts dialin lyncdiscover
    enterpriseregistration enterpriseenrollment msoid adfs sts sso rds`,
  hosting: `ftp cpanel webdisk whm cpcalendars cpcontacts webmail ns1 ns2 mysql phpmyadmin plesk pma panel host server
    server1 admin localhost stats sql db ns ns3 sftp ssh ~webalizer dns dns1 dns2 cp secure ssl backup monitor`,
  shop: `shop store checkout cart pay payment payments account cdn img images b2b api tracking track ~returns wholesale click
    links newsletter email search media partner partners affiliate affiliates ~outlet orders order pos ~pim gift reviews
    catalog customer customers my club ~loyalty ~rewards promo deals sale marketplace dealer dealers billing ~invoice ads
    ~tags metrics`,
  product: `app api docs status help blog admin auth login dashboard staging support dev accounts sandbox my portal console id
    ws assets cdn demo developer developers community academy learn careers sso oauth events go partners beta track
    click email webhooks hooks upload uploads media trust security changelog feedback billing pay get try console
    ~embed ~widget sdk graphql ~socket ~realtime chat analytics data feeds rest v1 v2 internal`,
  operations: `git gitlab jenkins grafana monitoring ci registry bastion vpn db redis prometheus kibana sentry jira confluence
    ~sonar nexus vault docker k8s jump logs log monitor nagios zabbix proxy lb mq kafka elastic search s3 ~minio mysql
    postgres mongo build deploy code svn repo ~harbor ~argocd ~rancher ~metabase ~airflow rabbitmq consul elasticsearch
    puppet ansible ntp syslog pgadmin qa uat prod preprod edge origin`,
  campus: `www webmail mail moodle library lib lms vpn sso idp login ldap mirror ftp git gitlab wiki cs math physics chem bio
    law med eng alumni jobs apply admissions portal student students faculty staff research cas shibboleth ezproxy proxy
    catalog opac repository archive journals press events calendar map ~housing news conference lists elearning eduroam
    radius dns ntp ~printing sports arts music history ~economics business education ~psychology cms it helpdesk registrar
    canvas blackboard hpc cluster grid`,
  press: `www blog news media events press podcast video tv radio shop jobs forum archive rss feeds newsletter tickets club
    members donate kids live stream streaming epaper ~abo ads adserver static photos community`,
  language: `de en fr es it nl uk us eu pl ru ch at jp cn br ca au tienda boutique correo ~karriere kunden webshop ~kundenportal
    ~blog-en loja`,
};

/** After these words of a line, a word belongs to one of two folds. */
const HEAD = 8;

/** A held-out corpus draws from words that none made while developing has seen, behind the usual ones. */
export type Fold = 'developing' | 'held-out';

export interface Word {
  readonly text: string;
  readonly label: 'common' | 'obscure';
}

export function wordsOf(trade: Trade, fold: Fold): readonly Word[] {
  const words = [...new Set(WORDS[trade].split(/\s+/))];
  return words
    .filter((word, rank) => rank < HEAD || foldOf(word) === fold)
    .map((word) => ({ text: word.replace('~', ''), label: word.startsWith('~') ? 'obscure' : 'common' }));
}

function foldOf(word: string): Fold {
  let sum = 0;
  for (const letter of word) sum = Math.imul(sum, 31) + letter.charCodeAt(0);
  return (sum & 4) === 0 ? 'developing' : 'held-out';
}

/** One of the words, the earlier the likelier (Zipf with a flattened head). */
export function drawWord(random: Random, words: readonly Word[]): Word {
  const most = Math.log((words.length + FLATTENED) / FLATTENED);
  const rank = Math.floor(FLATTENED * (Math.exp(random() * most) - 1));
  return words[Math.min(rank, words.length - 1)] as Word;
}

const FLATTENED = 6;

/** Names of two labels that belong together: what is common alone is common so, too. */
export const COMPOUNDS =
  `www.dev www.staging www.test api.dev api.staging app.staging app.dev www.shop www.blog admin.staging
  api.sandbox dashboard.staging cdn.dev api.test auth.staging www.demo api.eu app.eu api.us www.m www.en www.de app.demo
  api.beta docs.dev www.beta shop.dev www.old www.new mail.dev db.dev`.split(/\s+/);

const SURNAMES =
  `abendroth kessler okafor brandvold moreau tanaka lindqvist petrova delacroix szabo hartwig quigley
  yamauchi ferreira gruenwald`.split(/\s+/);
const THINGS =
  `badger osprey lantern quarry thistle cobalt meridian juniper halyard tundra marzipan obsidian parsnip gasket
  trellis walrus nimbus fjord`.split(/\s+/);
const DIGITS = '0123456789';
const HEX = `${DIGITS}abcdef`;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Names that no outsider would guess: people, projects, customers, serial numbers. */
export function obscureName(random: Random): string {
  const number = (count: number) => digits(random, count);
  const patterns: readonly (() => string)[] = [
    () => `${pick(random, THINGS)}-${pick(random, THINGS)}`,
    () => `${pick(random, SURNAMES)}-${pick(random, ['pc', 'nb', 'home', 'dev'])}`,
    () => `${pick(random, THINGS)}${number(2)}`,
    () => `ws${number(4)}`,
    () => `cam-${pick(random, THINGS)}-${number(1)}`,
    () => `${pick(random, SURNAMES)}${pick(random, ['-partner', '-gmbh', '-group', ''])}${number(2)}`,
    () => `host-${number(3)}-${number(2)}`,
    () => `em${number(4)}`,
    () => hex(random, 10),
  ];
  return pick(random, patterns)();
}

export function hex(random: Random, digits: number): string {
  return letters(random, HEX, digits);
}

export function base32(random: Random, digits: number): string {
  return letters(random, BASE32, digits);
}

export function digits(random: Random, count: number): string {
  return letters(random, DIGITS, count);
}

function letters(random: Random, alphabet: string, count: number): string {
  return Array.from({ length: count }, () => pick(random, [...alphabet])).join('');
}

const FIRST_PARTS =
  `nord alpen blue river stone green silver maple harbor sonnen berg clear bright urban west atlas pixel
  copper cedar summit`.split(/\s+/);
const SECOND_PARTS =
  `werk works craft labs haus media logic tech design trade foods garden motors supply studio bau books
  optik print textil`.split(/\s+/);
const TLDS = ['com', 'com', 'com', 'de', 'net', 'org', 'io', 'fr', 'it', 'nl'] as const;
/** Of the made internet. */
export const ALL_TLDS = [...new Set<string>(TLDS), 'edu'];

/** The number makes it one of its kind. */
export function domainName(random: Random, number: number, tld: string = pick(random, TLDS)): string {
  return `${pick(random, FIRST_PARTS)}${pick(random, SECOND_PARTS)}${number}.${tld}.`;
}
