-- If a domain gets another owner, or its owner another reseller, the former owner or reseller is no longer notified.
create or replace function end_webhooks_of_domain() returns trigger language plpgsql as $$
begin
  delete from webhooks where domain_id = new.id;
  return null;
end $$;
create or replace trigger webhooks_of_former_owner after update of account_id on domains
  for each row when (old.account_id <> new.account_id) execute function end_webhooks_of_domain();

create or replace function end_webhooks_of_client() returns trigger language plpgsql as $$
begin
  delete from webhooks w using domains d where d.id = w.domain_id and d.account_id = new.id;
  return null;
end $$;
create or replace trigger webhooks_of_former_reseller after update of provider_id on accounts
  for each row when (old.provider_id is not null and new.provider_id is distinct from old.provider_id)
  execute function end_webhooks_of_client();

-- The ACME order of a domain belongs to its owner.
create or replace function pass_acme_order() returns trigger language plpgsql as $$
begin
  update acme_orders set account_id = new.account_id where domain_id = new.id;
  return null;
end $$;
create or replace trigger acme_orders_pass after update of account_id on domains
  for each row when (old.account_id <> new.account_id) execute function pass_acme_order();
