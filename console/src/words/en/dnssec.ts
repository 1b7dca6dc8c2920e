// English texts of DNSSEC.

import { plural } from './figures.ts';

export const dnssec = {
  headlines: {
    off: 'Not signed',
    signing: 'Being signed',
    waiting: 'Signed. Do not enter the DS record yet',
    ds_wanted: 'Signed. Enter the DS record at your registrar',
    secure: 'Signed and secure',
    rolling: 'Changing to a new key',
    ds_removal: 'Ending DNSSEC: remove the DS record',
    unsigning: 'The signatures are being removed',
    broken: 'Broken: many people cannot reach this domain',
    verbatim: 'Signed elsewhere',
  },
  statuses: {
    off: 'off',
    signing: 'signing',
    waiting: 'waiting',
    ds_wanted: 'DS missing',
    secure: 'secure',
    rolling: 'rolling',
    ds_removal: 'DS to be removed',
    unsigning: 'unsigning',
    broken: 'broken',
    verbatim: 'as loaded',
  },
  leads: {
    off: 'DNSSEC signs every answer for your domain, so that nobody can forge one. It is free. Once it is on, you enter one line from this page at your registrar.',
    signing: 'We are signing your zone. This takes seconds to minutes; your domain works as before.',
    waiting:
      'Some resolvers still cache unsigned answers. A DS record now could make the domain unreachable for their users, so we wait. Your domain works as before.',
    ds_wanted:
      'Enter the DS record below at your registrar. We check the registry and notice it automatically.',
    secure:
      'The registry publishes your DS record, and validating resolvers reject forged answers. You do not need to do anything.',
    rolling:
      'A new key replaces the old one step by step, so that every resolver can follow. Your domain stays signed throughout.',
    ds_removal:
      'Remove the DS record at your registrar. We keep signing until no resolver can have it cached, so the domain stays reachable.',
    unsigning:
      'No DS record is left, and no resolver needs the signatures any longer. They are being removed.',
    broken:
      'The registry publishes only DS records that match no key of this zone. Validating resolvers reject the domain. Correct the DS records at your registrar as shown below.',
    verbatim: 'The zone was loaded with its own signatures. We serve them unchanged.',
  },
  external:
    'The DNS of this domain is external. Sign it at its DNS provider. We can sign only domains whose DNS is managed here.',
  steps: {
    label: 'Steps',
    sign: [
      'Zone signed',
      'Old answers expired from caches',
      'DS entered at your registrar',
      'Found at the registry: secure',
    ],
    roll: ['New key published', 'DS record replaced', 'Old key removed'],
    unsign: ['DS removed at your registrar', 'Expired from caches', 'Signatures removed'],
  },
  nextStep: 'Next step:',
  waitsBecause: (cause: string) => `Waiting because: ${cause}.`,
  toDelegation: 'See the delegation',
  signatures: 'Signatures are renewed automatically. Next renewal:',
  findings: 'Findings',
  severities: { error: 'Fix this now', warning: 'Check this', info: 'Good to know' },
  leaving: 'How to move this signed domain elsewhere without an outage',
  registrar: {
    titles: {
      add: 'Enter this at your registrar',
      replace: 'Replace this at your registrar',
      remove: 'Remove this at your registrar',
    },
    intros: {
      add: 'On your domain’s page, find “DNSSEC” or “DS records” and add one record. Registrars ask for these four values:',
      replace:
        'On your domain’s page, find “DNSSEC” or “DS records”. Add the new record first, then remove the old one.',
      remove: 'On your domain’s page, find “DNSSEC” or “DS records” and remove exactly this record:',
    },
    cds: 'Some registries do this automatically, because the zone requests it (CDS). If yours does, just wait.',
    listed: 'DS record of this domain',
    nothing: 'There is currently nothing to enter or remove.',
    leaving: 'This stays listed until the registry no longer publishes the record.',
    add: 'Add',
    remove: 'Remove',
    asLine: 'Or in one line, if the form accepts that:',
    asLineLabel: 'the DS record as one line',
    otherForms: 'Your registrar asks for something else?',
    otherFormsText: 'Some require the longer digest, or the key itself (DNSKEY).',
    longDigest: 'With SHA-384',
    fields: {
      keyTag: 'Key tag',
      algorithm: 'Algorithm',
      digestType: 'Digest type',
      digest: 'Digest',
      flags: 'Flags',
      protocol: 'Protocol',
      publicKey: 'Public key',
    },
    algorithms: {
      '8': 'RSA/SHA-256',
      '10': 'RSA/SHA-512',
      '13': 'ECDSA P-256 with SHA-256 (ECDSAP256SHA256)',
      '14': 'ECDSA P-384 with SHA-384 (ECDSAP384SHA384)',
      '15': 'Ed25519',
      '16': 'Ed448',
    },
    digestTypes: { '1': 'SHA-1', '2': 'SHA-256', '4': 'SHA-384' },
  },
  keys: {
    title: 'Keys',
    made: (algorithm: string, denial: 'nsec' | 'nsec3') =>
      `Algorithm: ${algorithm}. Denial of existence: ${denial.toUpperCase()}.`,
    changing: (denial: 'nsec' | 'nsec3') => `Changing to ${denial.toUpperCase()}.`,
    name: (tag: number) => `Key ${tag}`,
    life: (tag: number) => `Lifecycle of key ${tag}`,
    roles: { csk: 'signs everything', ksk: 'signs the keys', zsk: 'signs the records' },
    madeAt: 'created',
    states: {
      made: 'Created',
      published: 'Published',
      signing: 'Signing',
      retiring: 'Retiring',
      withdrawn: 'Removed',
    },
    dsLabel: 'At the registry:',
    ds: {
      none: 'no DS record, and none is needed now.',
      wanted: 'its DS record is still missing.',
      partial: 'some servers publish its DS record.',
      seen: 'its DS record is published.',
      unwanted: 'its DS record is still published and must be removed.',
    },
    next: 'The next step waits:',
    waitsForYou: 'the registry does not yet show the change that is requested above',
    from: 'possible',
  },
  parent: {
    title: 'DS records in the parent zone',
    look: 'Check now',
    notYet: 'We have not checked yet. The first check runs automatically.',
    notSigned: 'The domain is not signed here, so we do not check its DS records.',
    summary: (agreeing: number, addresses: number) =>
      `${agreeing} of ${plural(addresses, 'address', 'addresses')} that responded agree.`,
    seen: 'Checked',
    ttl: (long: string) => `Resolvers cache it for ${long}.`,
    noDs: 'No DS record is published.',
    ours: 'ours',
    other: 'not ours',
    none: 'no DS record',
    servers: (servers: number) => `Responses by server (${servers})`,
    serversCaption: 'DS records by server of the parent zone',
    proofs: {
      secure: 'signed',
      insecure: 'not signed',
      indeterminate: 'not validated',
    },
    columns: { server: 'Server', address: 'Address', ds: 'DS records', proof: 'Proof', at: 'Queried' },
  },
  actions: {
    label: 'Change DNSSEC',
    buttons: {
      enable: 'Sign this domain',
      roll: 'Change the key',
      disable: 'Stop signing',
      abort: 'Cancel this change',
      denial: 'Change denial of existence',
    },
    titles: {
      enable: (name: string) => `Sign ${name}?`,
      roll: (name: string) => `Change the key of ${name}?`,
      disable: (name: string) => `Stop signing ${name}?`,
      abort: (_name: string) => 'Cancel the change in progress?',
      denial: (name: string) => `Change denial of existence for ${name}?`,
    },
    what: {
      enable: [
        'We create a key and sign the zone. This takes seconds to minutes. Your domain works as before.',
        'Then we wait until unsigned answers have expired from caches. This takes about a day, or longer with long TTLs.',
        'After that, this page shows one DS record. Enter it at your registrar. Until then, do nothing there.',
        'You can cancel at any step.',
      ],
      roll: [
        'We create a new key and publish it next to the old one. After about a day, every resolver knows it.',
        'Then this page shows what to replace at your registrar, unless the registry does it automatically.',
        'We remove the old key once the registry has published no DS record for it for seven days. The domain stays signed throughout.',
      ],
      disable: [
        'This page shows which DS record to remove at your registrar.',
        'We keep signing until the registry has published no DS record for seven days, so the domain stays reachable.',
        'Then we remove the signatures. You can cancel until then.',
      ],
      abort: [
        'We return to the previous state: immediately if nothing was published, otherwise by the same careful steps.',
        'The domain stays reachable. If you have to undo a change at your registrar, this page shows it.',
      ],
      denial: [
        'Signed answers also prove that a name does not exist. There are two methods: NSEC and NSEC3.',
        'You do not need to do anything at your registrar, and all answers stay valid. The change takes seconds to minutes.',
      ],
    },
    done: {
      enable: 'The domain is being signed.',
      roll: 'The key change has started.',
      disable: 'Signing is being ended. Follow the steps.',
      abort: 'Cancelled.',
      denial: 'The denial of existence is being changed.',
    },
    reason: 'Reason',
    reasonHint: 'A compromised key is replaced as fast as caches allow.',
    reasons: { planned: 'As a precaution', compromised: 'The key may be compromised' },
    more: 'More options',
    algorithm: 'Algorithm',
    algorithmHint: 'If in doubt, leave it as it is.',
    algorithms: { 13: 'ECDSA P-256 (13), accepted by every registry', 15: 'Ed25519 (15)' },
    denial: 'Denial of existence',
    denialHint: 'If in doubt, use NSEC.',
    denials: {
      nsec: 'NSEC: smaller answers, but anyone can list the names',
      nsec3: 'NSEC3: larger answers, but listing the names is costly',
    },
    refused: {
      dnssec_busy:
        'Another change is in progress or was made a moment ago. Wait until the steps above are done, then try again.',
      dnssec_unavailable: 'Signing is currently unavailable. Try again later, or ask the operator.',
      dnssec_verbatim: 'The zone was loaded with its own signatures. Load it without them first.',
      dnssec_algorithm: 'The other operator signs with another algorithm.',
      wrong_state:
        'This is not possible in the current state of the domain. Reload the page to see its state.',
      plan_feature: 'Your plan does not include this.',
    },
  },
};
