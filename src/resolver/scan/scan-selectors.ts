// DKIM selectors: those of the mail providers that a domain's MX and SPF reveal, and common ones. Providers that draw
// selectors at random are not here, since nothing reveals theirs.

/** `at`: the end of an MX host, or of a name that SPF includes. */
interface Provider {
  readonly at: readonly string[];
  /** `%` stands for the number that the SPF name begins with. */
  readonly selectors: readonly string[];
  /**
   * Other names that customers of the provider make, below the name that mail is sent from: for bounces, links,
   * pictures, proofs.
   */
  readonly companions: readonly string[];
}

const PROVIDERS: readonly Provider[] = [
  provider('google.com googlemail.com', 'google google1 google2'),
  provider('protection.outlook.com mx.microsoft outlook.com', 'selector1 selector2'),
  provider(
    'zoho.com zoho.eu zoho.in zoho.com.au zohomail.com zcsend.net',
    'zoho zmail zohomail default zcampaign',
  ),
  provider('messagingengine.com', 'fm1 fm2 fm3 fm4 mesmtp'),
  provider('protonmail.ch proton.me', 'protonmail protonmail2 protonmail3'),
  provider('icloud.com', 'sig1'),
  provider('yandex.net yandex.ru', 'mail'),
  provider('mail.ru', 'mailru'),
  provider('hostinger.com titan.email', 'hostingermail-a hostingermail-b hostingermail-c titan1 titan2'),
  provider('privateemail.com', 'default privateemail'),
  provider('ionos.com ionos.de 1and1.com kundenserver.de perfora.net', 's1-ionos s2-ionos'),
  provider('rzone.de strato.de', 'strato-dkim-0002 strato-dkim-0003'),
  provider('mailbox.org', 'mbo0001 mbo0002 mbo0003 mbo0004'),
  provider('tutanota.de tutao.de', 's1 s2'),
  provider('migadu.com', 'key1 key2 key3'),
  provider('gandi.net', 'gm1 gm2 gm3'),
  provider('mx.cloudflare.net', 'cf2024-1'),
  provider('improvmx.com', 'dkimprovmx1 dkimprovmx2'),
  provider('secureserver.net', 'default k1 s1 s2'),
  provider('emailsrvr.com', 'dkim default'),
  provider('mimecast.com', 'mimecast'),
  provider('pphosted.com', 'proofpoint pps1'),
  provider('sendgrid.net', 's1 s2 smtpapi m1', 'em url link links click bounces'),
  provider('mcsv.net mandrillapp.com mcdlv.net rsgsv.net', 'k1 k2 k3 mandrill mte1 mte2', 'mandrill track'),
  provider('mailgun.org', 'smtp mailo mx k1 pic krs mta email pdk1 pdk2', 'email mg mailgun track'),
  provider('mtasv.net', 'pm pm1', 'pm-bounces pmbounces track'),
  provider('sendinblue.com brevo.com', 'mail brevo1 brevo2 sib', 'r img brevo sendinblue r.mail img.mail'),
  provider('hubspotemail.net hubspot.net hs-sites.com', 'hs1 hs2 hs1-% hs2-%', 'hs info go'),
  provider('mailjet.com', 'mailjet', 'bnc3 mailjet'),
  provider(
    'zendesk.com',
    'zendesk1 zendesk2',
    'zendeskverification zendesk1 zendesk2 zendesk3 zendesk4 support help',
  ),
  provider('freshdesk.com freshemail.io', 'fd fd2 fdm fwdkim1', 'fwdkim1 fdsupport support'),
  provider('constantcontact.com', 'ctct1 ctct2'),
  provider('emsd1.com activecampaign.com', 'dk acdkim1 acdkim2'),
  provider('convertkit.com', 'cka cka2'),
  provider('mlsend.com', 'litesrv ml mlsend'),
  provider('createsend.com', 'cm'),
  provider('elasticemail.com', 'api'),
  provider('klaviyo.com klaviyomail.com', 'kl kl2 dkim', 'send trk ctrk'),
  provider('intercom.io intercom-mail.com custom.intercom.help', 'intercom', 'outbound.intercom'),
  provider(
    'salesforce.com exacttarget.com',
    'sf1 sf2 salesforce 200608 10dkim1 12dkim1 50dkim1 51dkim1 100dkim1 fbldkim5 fbldkim6',
    'click view image pages cloud bounce reply leave',
  ),
  provider('sparkpostmail.com', 'sparkpost scph0920', 'bounces spark sp track'),
  provider('zeptomail.com zeptomail.net', 'zeptomail'),
  provider('everlytic.net', 'everlytickey1 everlytickey2 eversrv'),
  provider('amazonses.com', 'resend', '_amazonses send bounce ses track'),
  provider('mktomail.com mktoweb.com', 'm1 mkto', 'go pages info trk'),
  provider('pardot.com', '200608 pardot', 'go info'),
  provider('firebasemail.com', 'firebase1 firebase2'),
  provider('mailchannels.net', 'mailchannels', '_mailchannels'),
  provider('helpscoutemail.com helpscoutdocs.com', 'strong1 strong2'),
  provider('smtp2go.com', 'smtp2go', 'link return track'),
  provider('customeriomail.com', 'cio mailo', 'email e'),
  provider('sendpulse.com', 'sendpulse sp'),
  provider('statuspage.io stspg-customer.com', 'statuspage'),
  provider('transip.email transip.nl', 'transip-a transip-b transip-c'),
  provider('one.com', 'rsa1 rsa2 ed1 ed2'),
  provider('simply.com unoeuro.com', 'unoeuro simplycom1 simplycom2'),
  provider('your-server.de', 'default2205 default2208 default2306 default2406 default'),
  provider('infomaniak.ch infomaniak.com', '20191114 20200325'),
  provider('purelymail.com', 'purelymail1 purelymail2 purelymail3'),
  provider('mxroute.com mxlogin.com', 'x'),
  provider('simplelogin.co', 'dkim dkim02 dkim03'),
  provider('anonaddy.me addy.io', 'dk1 dk2'),
  provider('hornetsecurity.com antispameurope.com', 'hse1 hse2'),
  provider('zivver.com', 'zivver'),
  provider('wpcloud.com', 'wpcloud1 wpcloud2'),
  provider('clerk.services clerk.com', 'clk clk2', 'clerk clkmail accounts'),
  provider('mailersend.net', 'mlsend mlsend2'),
  provider('flodesk.com', 'fd fd2'),
  provider('cleverreach.com crsend.com', 'crsend'),
  provider('aweber.com', 'aweber_key_a aweber_key_b aweber_key_c'),
  provider('e2ma.net', 'e2ma-k1 e2ma-k2 e2ma-k3'),
  provider('mailpoet.com', 'mailpoet1 mailpoet2'),
  provider('mailtrap.io mailtrap.live', 'rwmt1 rwmt2'),
  provider('sailthru.com', 'sailthru mailing', 'link horizon'),
  provider('unisender.com', 'us'),
  provider('odoo.com', 'odoo'),
];

/** Selectors that are tried besides those of the providers: a provider's sign may be missing. */
export const COMMON_SELECTORS: readonly string[] =
  `default google selector1 selector2 k1 k2 k3 s1 s2 dkim mail smtp email mx key1 key2 sig1 fm1 fm2 fm3 protonmail
  protonmail2 protonmail3 zoho zmail mandrill mailjet resend cm pic kl hs1 hs2 pm zendesk1 zendesk2 mte1 mte2 ctct1 ctct2
  m1 dk dkim1 selector sel1 x api server brevo1 brevo2 gm1 gm2 gm3 s1-ionos s2-ionos transip-a transip-b transip-c
  strato-dkim-0002 hostingermail-a hse1 sf1 sf2 mbo0001 clk clk2 dkim2 dkim2048 rsa ed25519 s1024 s2048 2024
  2025 mail2024 dkim2024 mta mg sel2 key litesrv acdkim1 cka unoeuro`.split(/\s+/);

/** The fewest of `hosts` that show the same providers: one host for each provider. */
export function tellingHosts(hosts: readonly string[]): string[] {
  return [...new Set(PROVIDERS.flatMap(({ at }) => hostAt(at, hosts) ?? []))];
}

/** `hosts`: the hosts that MX and SPF name, without a final dot, in lower case. The likely selectors come first. */
export function selectorsOf(hosts: readonly string[]): string[] {
  const selectors = new Set<string>();
  for (const { at, selectors: known } of PROVIDERS) {
    const host = hostAt(at, hosts);
    if (host === undefined) continue;
    const number = /^[0-9]+/.exec(host)?.[0];
    for (const selector of known) {
      if (!selector.includes('%')) selectors.add(selector);
      else if (number !== undefined) selectors.add(selector.replace('%', number));
    }
  }
  return [...selectors];
}

/** Names that belong to the providers, relative to the name that mail is sent from. */
export function companionsOf(hosts: readonly string[]): string[] {
  const known = PROVIDERS.filter(({ at }) => hostAt(at, hosts) !== undefined);
  return [...new Set(known.flatMap(({ companions }) => companions))];
}

/** Prefers a host with a number when there are several. */
function hostAt(ends: readonly string[], hosts: readonly string[]): string | undefined {
  const there = hosts.filter((each) => ends.some((end) => each === end || each.endsWith(`.${end}`)));
  return there.find((each) => /^[0-9]/.test(each)) ?? there[0];
}

/** Texts by which a domain proves itself to a provider, each with a host of that provider. */
const PROOFS: readonly (readonly [RegExp, string])[] = [
  [/^ms=/, 'outlook.com'],
  [/^(sendinblue|brevo)-code[:=]/, 'brevo.com'],
  [/^protonmail-verification=/, 'proton.me'],
  [/^apple-domain=/, 'icloud.com'],
  [/^zoho-verification=/, 'zoho.com'],
  [/^klaviyo-site-verification=/, 'klaviyo.com'],
  [/^hubspot-(developer|domain)-verification=/, 'hubspot.net'],
  [/^firebase=/, 'firebasemail.com'],
  [/^mailru-verification[:=]/, 'mail.ru'],
  [/^yandex-verification[:=]/, 'yandex.net'],
  [/^pardot[0-9_a-z]*=/, 'pardot.com'],
  [/^mandrill_verify/, 'mandrillapp.com'],
  [/^hosted-email-verify=/, 'migadu.com'],
];

/** `text` is in lower case. */
export function proofHosts(text: string): string[] {
  return PROOFS.filter(([shape]) => shape.test(text)).map(([, host]) => host);
}

function provider(at: string, selectors: string, companions = ''): Provider {
  return { at: words(at), selectors: words(selectors), companions: words(companions) };
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
