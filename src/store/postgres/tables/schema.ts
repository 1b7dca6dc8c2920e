// The tables as Kysely sees them. Names are folded presentation text with the final dot (readable in psql, any octet
// through escapes); 64-bit counters are numbers, since they count from 1 (see `connectionTypes`).

import type { AccountTables } from './account-tables.ts';
import type { CertificateTables } from './certificate-tables.ts';
import type { ChangeTables } from './change-tables.ts';
import type { CheckTables } from './check-tables.ts';
import type { DomainTables } from './domain-tables.ts';
import type { EdgeTables } from './edge-tables.ts';
import type { MoneyTables } from './money-tables.ts';
import type { NameServerTables } from './name-server-tables.ts';
import type { ResolverTables } from './resolver-tables.ts';
import type { RuleTables } from './rule-tables.ts';
import type { SigningTables } from './signing-tables.ts';
import type { TicketTables } from './ticket-tables.ts';
import type { UptimeTables } from './uptime-tables.ts';
import type { VantageTables } from './vantage-tables.ts';
import type { WebhookTables } from './webhook-tables.ts';
import type { ZoneTables } from './zone-tables.ts';

export interface Schema
  extends AccountTables,
    CertificateTables,
    ChangeTables,
    CheckTables,
    DomainTables,
    EdgeTables,
    MoneyTables,
    NameServerTables,
    ResolverTables,
    RuleTables,
    SigningTables,
    TicketTables,
    UptimeTables,
    VantageTables,
    WebhookTables,
    ZoneTables {}
