// English texts of a domain's settings.

import { grouped, plural } from './figures.ts';

export const domainSettings = {
  closed: {
    disabled: 'The domain is disabled. Enable it below before you change anything else.',
    banned: 'The operator has closed this domain. You cannot change anything here.',
    viewer: 'You can view these settings. Only owners and admins of the domain can change them.',
    suspended:
      'The domain is suspended because of an unpaid bill. DNS still works, but edge features are paused.',
  },
  save: 'Save',
  saved: 'Saved.',
  undo: 'Undo',
  notNumber: 'Enter a whole number.',
  between: (min: number, max: number) => `Enter a whole number from ${grouped(min)} to ${grouped(max)}.`,
  plan: {
    none: 'Requires an active plan.',
    choose: 'Choose a plan',
    upTo: (mb: number) => `Your plan includes up to ${mb} MB.`,
    beyond: (mb: number) => `${mb} MB – not in your plan`,
  },
  mode: {
    title: 'Who serves the zone',
    managed: 'Managed here',
    managedText: 'Our nameservers serve the whole domain. You edit its records here.',
    external: 'External',
    externalText:
      'Your zone stays with your current DNS provider. You prove ownership with a TXT record there.',
    now: 'current',
    toManaged: 'Switch to managed here',
    toExternal: 'Switch to external',
    toManagedText:
      'The domain becomes pending again. It goes live when your registrar lists our nameservers. Until then, your current provider keeps serving it.',
    toExternalText:
      'The domain becomes unverified again. We keep serving it until your registrar lists other nameservers. Set up the zone at your provider first, or visitors cannot reach it.',
    changed: 'The mode was changed. See what to do next.',
  },
  set: {
    title: 'Nameservers',
    text: 'Each of these sets is accepted. We show the selected one as the set to enter at your registrar. A delegation to any other complete set is accepted, too.',
    chosen: 'selected',
    save: 'Use this set',
  },
  groups: {
    cache: {
      title: 'Cache',
      text: 'How the edge caches responses from your origin. Applies to proxied records.',
    },
    headers: { title: 'Security headers', text: 'Headers that the edge adds to responses or removes.' },
    agents: { title: 'AI agents', text: 'For assistants and crawlers that prefer plain text.' },
    uptime: {
      title: 'Uptime',
      text: 'When your origin is considered down, and when recovered. We evaluate visitors’ requests once per minute.',
    },
  },
  fields: {
    cache_l2_max_gb: { label: 'Disk cache in GB', hint: 'Maximum disk space for this domain.' },
    cache_l2_ttl_days: { label: 'Keep on disk (days)', hint: '1 to 7.' },
    cache_cap_mb: { label: 'Maximum cached response size', hint: 'Larger responses are not cached.' },
    sec_no_sniff: {
      label: 'Prevent browsers from guessing content types',
      hint: 'Adds X-Content-Type-Options: nosniff.',
    },
    sec_referrer_policy: {
      label: 'Send only the origin as referrer to other sites',
      hint: 'Adds Referrer-Policy: strict-origin-when-cross-origin.',
    },
    sec_strip_headers: {
      label: 'Hide server software',
      hint: 'Removes headers such as Server and X-Powered-By.',
    },
    markdown_for_agents: {
      label: 'Serve pages as Markdown to programs that request it',
      hint: 'Browsers get your pages unchanged.',
    },
    outage_alerts: { label: 'Email me if the origin stays down', hint: 'Also when it recovers.' },
    uptime_threshold_pct: {
      label: 'Error rate that marks a minute as down, in %',
      hint: 'Share of failed requests in that minute. 50 to 100.',
    },
    uptime_window_min: { label: 'Down after this many minutes', hint: '2 to 60.' },
    uptime_min_requests: {
      label: 'Minimum number of requests in that time',
      hint: 'With fewer requests, no incident is opened.',
    },
    uptime_min_active_min: {
      label: 'Minimum number of minutes with traffic',
      hint: '1 to 60.',
    },
    uptime_recover_min: { label: 'Recovered after this many healthy minutes', hint: '1 to 1440.' },
  },
  mb: (mb: number) => `${mb} MB`,
  developer: {
    title: 'Developer mode',
    text: 'While it is on, the edge bypasses its cache, so every request goes to your origin. It turns off automatically.',
    off: 'It is off.',
    until: 'It is on and ends',
    on: (hours: number) => `Turn on for ${plural(hours, 'hour', 'hours')}`,
    end: 'Turn off now',
  },
  enable: {
    title: 'Enable this domain',
    text: 'The domain becomes pending, or unverified if its DNS is external. Its records are unchanged.',
    button: 'Enable',
    transfer: 'Claim the name although another account uses it',
    transferHint: 'It becomes yours when your registrar lists your nameservers.',
    done: 'The domain is enabled. See what to do next.',
  },
  delete: {
    title: 'Delete this domain',
    text: 'We stop serving it immediately and delete its records, rules and statistics. If your registrar still lists our nameservers, the domain becomes unreachable. The operator can restore it within 30 days.',
    button: 'Delete this domain',
    confirm: (name: string) => `Delete ${name}?`,
    done: (name: string) => `${name} was deleted.`,
  },
};
