// The console's screens for pictures, with the demo's objects for each.

export interface Screen {
  readonly name: string;
  /** Relative to /console/. */
  readonly path: string;
  /** True if complete pictures are stored in every variant. The others are only checked for layout faults. */
  readonly isMain?: boolean;
}

const of = (domain: string, page: string, isMain = false): Screen => ({
  name: page.replaceAll('/', '-'),
  path: `domains/${domain}/${page}`,
  isMain,
});
const operator = (page: string, isMain = false): Screen => ({
  name: `operator-${page}`,
  path: `operator/${page}`,
  isMain,
});

export const SCREENS: readonly [Screen, ...Screen[]] = [
  { name: 'domains', path: 'domains', isMain: true },
  of('harbor.test', 'delegation', true),
  of('orchid.test', 'records', true),
  of('orchid.test', 'records/import'),
  of('orchid.test', 'records/scan'),
  of('orchid.test', 'records/email'),
  of('orchid.test', 'records/templates'),
  of('orchid.test', 'history', true),
  of('granite.test', 'dnssec', true),
  { name: 'traffic', path: 'domains/orchid.test/traffic?period=1h', isMain: true },
  of('orchid.test', 'rules'),
  of('orchid.test', 'certificates'),
  of('orchid.test', 'cache'),
  of('orchid.test', 'uptime'),
  of('orchid.test', 'sharing'),
  of('orchid.test', 'settings'),
  of('orchid.test', 'plan'),
  { name: 'account', path: 'account' },
  { name: 'account-keys', path: 'account/keys', isMain: true },
  { name: 'account-security', path: 'account/security' },
  { name: 'wallet', path: 'wallet' },
  { name: 'invoices', path: 'wallet/invoices' },
  { name: 'tickets', path: 'tickets' },
  operator('fleet', true),
  ...['live', 'queues', 'registries', 'calls', 'domains', 'accounts', 'tickets', 'payments', 'audit'].map(
    (page) => operator(page),
  ),
];

const WIDTHS = [390, 820, 1440] as const;
const HEIGHTS = { 390: 844, 820: 1180, 1440: 900 } as const;

export interface Variant {
  readonly viewport: { readonly width: number; readonly height: number };
  readonly colorScheme: 'light' | 'dark';
}

export const VARIANTS: readonly Variant[] = WIDTHS.flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({
    viewport: { width, height: HEIGHTS[width] },
    colorScheme,
  })),
);

/** Variant shown in the documentation. */
export const SHOWN: Variant = { viewport: { width: 1440, height: HEIGHTS[1440] }, colorScheme: 'light' };

export function nameOf({ name }: Screen, { viewport, colorScheme }: Variant): string {
  return `${name}-${viewport.width}-${colorScheme}`;
}
