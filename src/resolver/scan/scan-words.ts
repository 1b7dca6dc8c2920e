// The names that a scan tries below a domain, the likely ones first. Compiled by hand for this project, purpose by
// purpose (what hosting panels, mail set-ups, shops, developers and offices call their hosts). No list of others was
// taken over, and nothing was fitted to the zones that recall is measured with, except for what
// fixtures/zones-to-scan/README.md says. Names with an underscore are in scan-services.ts.

/** Names that are asked for with every type, even where a wildcard seems to answer for them. */
const COMMON = words(`
  www mail webmail ftp smtp imap pop autodiscover autoconfig api app blog shop admin dev staging test m cdn
  static assets img images media portal support help docs status vpn remote ns1 ns2 mx pop3 cpanel whm
  webdisk cpcontacts cpcalendars server host web beta demo store login auth sso my account secure news
  forum wiki git gitlab jenkins intranet extranet owa exchange lyncdiscover sip enterpriseregistration
  enterpriseenrollment msoid mta-sts send bounce bounces em email newsletter track click links go files
  download upload video stage old new
`);

const HOSTING = words(`
  ns ns3 ns4 dns dns1 dns2 ns01 mx1 mx01 mail1 mail2 mail01 smtp1 smtp2 smtp01 relay relay1 outbound
  outgoing inbound incoming mailer mailhost mailout1 mailrelay mta mta1 zimbra roundcube spam filter
  archive lists mailman groups mailgun sendgrid mg www1 www2 www3 web1 web2 web3 web01 w w2 w3 ww host1
  host2 server1 server2 srv srv1 srv01 s s1 s2 s3 vps vps1 node node1 box cloud cloud1 hosting panel cp
  plesk directadmin webmin phpmyadmin mysql mariadb postgres pgadmin db db1 db2 db01 database sql mongodb
  redis memcached elastic ftp1 ftp2 sftp webdav nas nas1 storage backup backup1 backups bak bk synology
  minio mx02 mail3 mailserver mailgate mailgw mailing mailout mailin mails postmaster antispam list mautic
  pm-bounces www01 server01 pma mongo elasticsearch influxdb fs fileserver share shares caldav carddav ftps
  postgresql backup2 e-mail http mssql mysql2 quarantine mailchimp imaps
`);

const DELIVERY = words(`
  cdn1 cdn2 static1 img1 imgs photos gallery edge origin origin-www lb lb1 loadbalancer proxy proxy1
  traefik ingress gateway gw gw1 router fw firewall waf media1 videos stream streaming live tv podcasts
  downloads uploads repo update updates file ads tag sgtm tracking t stats stat analytics matomo piwik
  plausible umami metrics count webstats logs events image picture cache radio mirror get pub public gtm
  analytic data telemetry cdn3 static2 img2 media2 edge1 js css content asset photo log event audio music
  collector
`);

const DEVELOPING = words(`
  dev1 dev2 developer test1 test2 testing stg preprod pre preview prod qa uat sit int integration sandbox
  sb demo1 demos lab alpha beta1 next ci cd builds deploy github bitbucket registry docker k8s kube
  kubernetes vault artifacts sonar sonarqube redmine jira confluence project mattermost rocketchat chat
  monitor monitoring nagios zabbix icinga prometheus grafana kibana sentry health alert api1 api2 graphql
  grpc ws wss webhook webhooks oauth oauth2 adfs idp accounts auth0 keycloak app1 app2 apps application
  backend jobs v1 v2 new1 legacy temp tmp local localhost develop development production uat1 qa1
  playground build review gitea teamcity argocd rancher portainer harbor nexus consul issues projects
  youtrack slack xmpp uptime ping alerts alertmanager netdata checkmk graylog loki rest apis service
  services id identity okta signup register frontend rabbitmq trial old1 stage2 staging2 app3 api3 api-dev
  api-test api-staging dev-api staging-api app-dev app-staging dev-app staging-app www-dev www-staging
  admin-dev svn source bugs tracker websocket callback core worker mq play labs jabber signin cas kafka
  canary
`);

const BUSINESS = words(`
  shops boutique cart checkout basket order orders pay payment payments paypal stripe billing bill invoice
  invoices pos sale deals catalog catalogue products product price prices pricing b2b b2c marketplace
  market suppliers partner partners partnerportal affiliate affiliates reseller dealer magento woocommerce
  prestashop shopify ecommerce webshop gift loyalty club membership member members customer customers
  client clients clientarea user users me myaccount dashboard console control manage manager administrator
  administration backoffice office cms wp wordpress blogs drupal typo3 landing lp promo campaign page info
  corp press magazine articles report investors careers hr recruitment staff employee team teams marketing
  crm erp odoo salesforce zendesk freshdesk helpdesk desk servicedesk ticket faq kb knowledge knowledgebase
  community communities forums discuss feedback survey form contact contacts book booking bookings calendar
  cal meet meeting conference webinar jitsi bbb training train academy university learn elearning lms
  moodle courses student students school alumni eservices legal privacy policy trust security finance
  payroll time intra document documents guide studio creative logistics shipping map maps gis geo travel
  online eshop store1 shop1 merchants vendors profile promotion campaigns site sites website about company
  corporate career job people ir tickets otrs doc documentation guides reference design brand schedule
  admission education research compliance food menu auto insurance loan quote event1 webinars zoom shopping
  sales offers offer recruiting stories merchant supplier bank ebanking hotel accounting journal campus edu
  apply pages bills library sap surveys
`);

const OFFICE = words(`
  vpn1 vpn2 vpn01 sslvpn openvpn wireguard wg globalprotect citrix rdp rdgateway ts1 remoteaccess access
  desktop vdi guacamole bastion jump jumphost ssh dc dc1 dc01 ldap radius ntp wsus wpad ex ex1 mobile mdm
  lync sip1 voip pbx 3cx phone tel fax voice turn webrtc sharepoint onedrive nextcloud owncloud bitwarden
  vaultwarden cam cam1 cctv unifi controller wifi wlan home esx esxi esxi1 vcenter vm vm1 proxmox pve pve1
  kvm ups gw01 fw1 pfsense opnsense sophos internal external private dmz network root vpn3 rds rdweb
  terminal ts camera vmware iot net main default dc2 ldap1 activesync webconf sp syslog guest switch ipmi
  printer homeassistant plex dvr nvr vsphere av ldaps kerberos
`);

const SHORT = words(`
  a b c d e f g h i j k n o p q r u v x y z 1 2 3 mob i1 cn de es fr it jp nl pl pt ru se tr uk us ca au br
  in kr eu asia usa na emea apac us-east us-west eu-west us1 eu1 east west global search find feed feeds s3
  gcp aws azure do link short join invite ai bot assistant ml jupyter bi metabase game games mc pro donate
  donation em1 em2 reply notify transactional o1 rp m2 url view try ref go2 social business enterprise bots
  mx sg ap eu2 us2 sitemap rss status1 return returns explore en fi dk no be at ch cz intl world open start
  vip plus redirect fbl l t2
`);

/** More names. Those that are signs of a kind of zone are in scan-trades.ts. */
const AREAS = words(`
  platform hub connect insights workspace workspaces editor developers integrations sync flow agent agents inbox
  wallet cards card risk kiosk tenant tenants previews spaces portfolio tasks forms board rooms meetings share sign
  changelog roadmap releases plugins templates widget widgets sdk dl license engine kids sport sports weather drive
  selfservice launch builder lib cs math eduroam faculty registrar canvas blackboard exam exams results sis admissions
  zh ja ko ar sv da zh-cn pt-br
`);

/** Names that are less common. */
const RARER = words(`
  mx2 ssl webmail2 office365 sts client1 clientes srv2 node2 mx3 mail02 out gate vpn-gw ras conf ad pki crl ocsp
  resolver dav transfer code acc uat2 test3 dev3 demo2 beta2 apidev socket tiles pics images2 img3 player discord
  ts3 members2 clubs e-learning science digital archives joomla shop2 parts adserver banner smetrics reports
  reporting tableau mysql1 sql1 oracle www4 web02 web4 mobileapp android ios wap touch en2 international london
  newyork berlin paris ipv4 ipv6 ip hotspot webcam mqtt print scan ilo idrac veeam control-panel management office2
  system sys noc cacti prtg service-desk give registration careers2 hrm
`);

/** All names, ranked. */
export const SCAN_WORDS: readonly string[] = [
  ...new Set([
    ...COMMON,
    ...HOSTING,
    ...DELIVERY,
    ...DEVELOPING,
    ...BUSINESS,
    ...OFFICE,
    ...AREAS,
    ...SHORT,
    ...RARER,
  ]),
];

export const COMMON_WORDS: ReadonlySet<string> = new Set(COMMON);

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
