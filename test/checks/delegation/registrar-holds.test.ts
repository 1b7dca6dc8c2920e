import { expect, it } from 'vitest';
import { registrarHold } from '../../../src/checks/delegation/registrar-holds.ts';
import { parseName } from '../../../src/dns/name.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';
import { names } from '../../support/world/check-evidence.ts';

const DOMAIN = parseName('stall.example.');

/** Nameservers, and the hold that they indicate. */
const ROWS = rowsOf(`
ns1.registrant-verification.ispapi.net ns2.registrant-verification.ispapi.net | verification
NS1.Registrant-Verification.COM NS2.Registrant-Verification.COM | verification
failed-whois-verification.namecheap.com verify-contact-details.namecheap.com | verification
ns1.verification-hold.suspended-domain.com ns2.verification-hold.suspended-domain.com | verification
ns1.emailverification.info ns2.emailverification.info | verification
ns1.registrant-verification.registrar.example ns2.registrant-verification.registrar.example | verification
ns1.suspended-domain.com ns2.suspended-domain.com | suspension
ns1.suspended.host.co.uk ns2.suspended.host.co.uk | suspension
suspended1.host.example suspended2.host.example | suspension
ns1.expired.reg.ru ns2.expired.reg.ru | expiry
expired1.namebrightdns.com expired2.namebrightdns.com | expiry
expirens3.hichina.com expirens4.hichina.com | expiry
ns1.pendingrenewaldeletion.com ns2.pendingrenewaldeletion.com | expiry
ns1.sedoparking.com ns2.sedoparking.com | parking
ns1.parkingcrew.net ns2.parkingcrew.net | parking
ns1.bodis.com ns2.bodis.com | parking
parking1.ovh.net parking2.ovh.net | parking
ns1.domain-parking.example ns2.domain-parking.example | parking
ns1.out.example ns2.out.example | none
ns1.dns-parking.com ns2.dns-parking.com | none
ns1.parking-lot.example ns2.parking-lot.example | none
ns1.parking-lot.city.example ns2.parking-lot.city.example | none
ns1.parking.example ns2.parking.example | none
ns1.parking.co.uk ns2.parking.co.uk | none
ns1.suspended-ceilings.example ns2.suspended-ceilings.example | none
ns1.identity-verification.example ns2.identity-verification.example | none
ns1.verify.example ns2.verify.example | none
ns1.verifying.host.example ns2.unexpired.host.example | none
ns1.not-above.com ns2.not-above.com | none
ns1.expired.stall.example ns2.expired.stall.example | none
ns1.expired.reg.ru ns1.out.example | none
`);

it.each(ROWS)('registrarHold classifies %s as %s', (nameservers, hold) => {
  expect(registrarHold(DOMAIN, names(nameservers)) ?? 'none').toBe(hold);
});
