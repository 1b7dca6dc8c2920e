// What hosts are called in languages other than English. Compiled by hand for this project like scan-words.ts, by people who
// saw none of the zones that recall is measured with.

import { type Kind, list, set } from './scan-kind.ts';

/** Every scan of a domain that may be of any language asks for these of each. */
const MOST_PROBES = 6;

export const LANGUAGES: readonly Kind[] = [
  language(
    // German
    'de at ch li lu',
    'karriere kunden kundenportal bewerbung verwaltung termine mitglieder anmeldung rechnung bestellung lernen umfrage',
    `
      mein presse karriereportal hilfe stellen buchung kunde termin meine bibliothek bewerberportal serviceportal
      mitarbeiter rechnungen schulung akademie terminbuchung gutscheine lieferanten haendler onlineshop
      veranstaltungen konto stellenangebote zeiterfassung bestellen dokumente immobilien ausbildung abo meinkonto
      entwicklung wetter patientenportal buergerportal ratsinfo kita vhs mediathek anzeigen spenden hinweisgeber
      lernplattform datenaustausch einkauf vertrieb projekte katalog konfigurator handbuch wissen makler zeit
      mieterportal buchen gutschein reservierung kalender stadtplan tourismus verlag ersatzteile retouren
      zuweiserportal netzportal iserv stud qis lsf hisinone mensa jobboerse kundencenter kundenservice
      tischreservierung terminvereinbarung speisekarte datenschutz dateien austausch haendlerportal lieferantenportal
      mitarbeiterportal produkte preisliste retoure lager versand xrechnung erechnung rechnungsportal bestellportal
      bestellungen stoerung wissensdatenbank weiterbildung fortbildung schulungen nachrichten aktuelles verein
      mitgliederportal mitgliederbereich kleinanzeigen trauer gewinnspiel rezepte stellenmarkt werbung agentur
      vorschau testumgebung abnahme schnittstelle sicherung fernwartung buchhaltung datev angebote mieter vermietung
      immo strom energie netzanschluss zaehlerstand stadtwerke installateurportal patienten klinik befunde
      versicherung schaden tarifrechner rechner buergerservice buergerinfo sessionnet allris rathaus stadtbibliothek
      bauleitplanung beteiligung kitaportal familienportal ferienprogramm feuerwehr ferienwohnung unterkunft abfall
      vergabe ausschreibungen formulare studium studenten vorlesungsverzeichnis rektorat dekanat wohnheim
      zeitschriften ub schulportal vertretungsplan stundenplan klassenbuch elternportal tvprogramm spielplan
    `,
  ),
  language(
    // French
    'fr be ch lu ca mc sn ci ma tn re bzh',
    'recrutement espaceclient actualites commande rdv adherents billetterie emploi sondage messagerie moncompte formations',
    `
      formation presse monespace aide recette compte agenda rh carrieres partenaires mon-compte facturation ent
      bibliotheque edt fournisseurs factures paiement annuaire mairie portail portail-famille marchespublics
      evenements fichiers partage developpement mediatheque dons abonnement gestion enquetes enquete petites-annonces
      jeux meteo paie sirh qualif commandes salaries concours patients resultats ecandidat candidature candidatures
      scolarite etudiants ade bu hal pronote agence-en-ligne tourisme fidelite urbanisme sig ged espace-client
      mon-espace recrute rejoignez-nous telechargement inscriptions essai maquette ancien nouveau facture paiements
      devis achats revendeurs revendeur professionnels produits cadeaux bonscadeaux retours colis livraison
      collaborateurs conges pointage courrier sauvegarde infolettre jeu jeuconcours evenement don jedonne adhesion
      licencies petitesannonces annonces abonnements abonnes programmetv avis-deces recettes sante hebergement
      hebergements chambres sejours ville demarches mesdemarches teleservices portailfamille famille espacefamille
      espace-famille guichet guichet-unique plu marches marches-publics transparence participer jeparticipe musee
      dechets agenceenligne energie chantier laboratoire medecins assure assures mutuelle adherent sinistres courtiers
      courtier banque simulateur locataires locataire immobilier logement coproprietaires etudiant emploidutemps
      apogee editions revues colloques colloque cantine restauration kiosque ecole lycee eleves prendrerdv courriel
      suivi ventes magasins releve chorus syndic rectorat
    `,
  ),
  language(
    // Spanish
    'es mx ar co cl pe uy ec ve gt cr py bo do pa cat',
    'tienda correo pruebas proveedores empleo facturacion citas encuestas tramites aulavirtual desarrollo ofertas',
    `
      reservas noticias soporte sistema biblioteca ayuda cursos campusvirtual campus-virtual sede formacion empleados
      facturas eventos portalempleado gestion pedidos mi factura rrhh incidencias trabajaconnosotros transparencia
      sistemas capacitacion catalogo prensa revistas revista pagos facturaelectronica sedeelectronica documentos
      archivos nube matricula egresados alumnos inscripciones docentes repositorio admision posgrado congreso turismo
      compras ventas canaldenuncias canaletico descargas nomina oficinavirtual citaprevia socios areaclientes micuenta
      portalproveedores cliente boletines produccion preproduccion foro aula siu sia portalcliente area-clientes
      areacliente trabaja empleos bolsadetrabajo bolsaempleo seleccion nominas distribuidores almacen productos
      precios cotizador pagosenlinea factura-electronica cfdi efactura promociones sorteos puntos devoluciones envios
      tiendaonline respaldo mesadeayuda mesa-de-ayuda administracion administrador contabilidad gestiondocumental
      firma fichajes control-horario prueba nuevo antiguo calidad jornadas encuesta socio colegiados canaldedenuncias
      sede-electronica registro licitaciones contratacion tributos impuestos urbanismo ciudadano ciudadania participa
      participacion datosabiertos ayuntamiento municipio catastro cultura deportes oficina-virtual energia reserva
      restaurante bono cita cita-previa pacientes paciente resultados laboratorio medicos salud clinica seguros
      mediadores siniestros banca bancaenlinea banca-en-linea inmobiliaria alquiler rectorado secretaria
      secretariavirtual matriculas admisiones profesores estudiantes investigacion facultad guarani colegio
      clasificados suscripciones hemeroteca eltiempo clima envivo recetas residencias comedor habitaciones
    `,
  ),
  language(
    // Italian
    'it ch sm',
    'negozio prenota prenotazioni areariservata fornitori fatture lavoraconnoi areaclienti clienti sondaggi iscrizioni collaudo',
    `
      assistenza servizi prenotazione formazione corsi eventi area-riservata posta riservato fatturazione fattura
      area-clienti biblioteca ordini portale dipendenti lavoro gestionale portaleclienti portalefornitori documenti
      segnalazioni gare trasparenza albofornitori cataloghi catalogo concorsi sviluppo prove nuovo sito rivenditori
      agenti presenze protocollo studenti didattica segreteria registroelettronico referti sportello
      sportellotelematico albo suap tributi turismo pagamenti pagopa amministrazionetrasparente archivio conservazione
      candidature carriere comune cultura riviste convegni annunci abbonamenti edicola meteo preventivi spedizioni
      ricambi listini scuola acquisti magazzino risorseumane preventivatore ordine fatturaelettronica
      fattura-elettronica fatturapa selezione portaledipendente sportelloonline albopretorio albo-pretorio
      garetelematiche appalti amministrazione cedolini buste-paga timbrature rivenditore distributori listino prodotti
      configuratore preventivo pagamento spedizione fedelta raccoltapunti concorso promozioni offerte buoni volantino
      negozi comunicazione stampa notizie rassegnastampa documentale condivisione manuali aiuto richieste produzione
      nuovosito vecchio accesso registrazione ilmioconto ateneo rettorato immatricolazioni tesi esami dottorato laurea
      ricerca mensa registro registro-elettronico genitori docenti spaggiari congressi soci tesseramento donazioni
      dona volontari sondaggio questionari cittadino cittadini anagrafe urbanistica pgt museo rifiuti energia bollette
      autolettura ristorante camere ospiti vacanze ricette abbonati giornale diretta immobiliare agenzia sinistri
      assicurazioni pazienti ritirareferti cup medici laboratorio alloggi alunni affitti
    `,
  ),
  language(
    // Portuguese
    'pt br',
    'loja homologacao fornecedores suporte agendamento chamados boleto vagas minhaconta areadocliente pesquisas inscricoes',
    `
      cliente sistema homolog nfe nfse cursos ead ava eventos biblioteca portaldocliente trabalheconosco rh hml teste
      testes sistemas noticias atendimento ajuda pesquisa pedidos revistas financeiro compras vendas aluno
      portaldoaluno protocolo portaldofornecedor transparencia ouvidoria catalogo lojas boletos reservas agenda
      treinamento ponto carreiras recrutamento desenvolvimento arquivos documentos colaborador fornecedor agendamentos
      painel gestao servicos vestibular periodicos repositorio matriculas academico sigaa sei sipac suap iptu
      licitacoes prefeitura camara esic assinatura parceiros portaltransparencia imprensa concursos resultados exames
      laudos seguros corretores imoveis correio secretaria formacao associados socios assine aovivo trabalhe-conosco
      carreira notafiscal segundavia pagamentos faturas faturacao encomendas cotacao orcamento revenda revendedores
      representantes distribuidores estoque logistica rastreamento trocas devolucoes produtos ofertas promocoes
      lojavirtual lojaonline faleconosco sac canaldedenuncias comunicacao ingressos bilheteira bilhetes congressos
      arquivo ficheiros transferencias nuvem administracao acesso cadastro holerite contracheque colaboradores
      portaldocolaborador producao novo antigo contabilidade relatorios ordemdeservico marcacoes cardapio quartos
      hospedagem turismo sociotorcedor cooperado doacoes portaldatransparencia municipio servicosonline balcaovirtual
      diariooficial legislacao urbanismo educacao energia paciente pacientes medicos prestador prestadores
      beneficiario simulador imobiliaria condominio alunos inforestudante processoseletivo reitoria editora escola
      classificados receitas assinaturas cantina
    `,
  ),
  language(
    // Dutch
    'nl be',
    'mijn winkel werkenbij klantportaal nieuws afspraak acceptatie leden reserveren klanten nieuwsbrief vacatures',
    `
      klant klantenportaal leveranciers leren portaal webwinkel bestellen inschrijven medewerkers facturen agenda
      opleidingen academie hulp documenten werken-bij werkenbijons boeken evenementen cursus loket bestanden enquete
      rooster formulieren topdesk bibliotheek archief zakelijk mijnomgeving mijnaccount mijn-account aanmelden beheer
      actie acties testomgeving oefenomgeving ontwikkel doneren doneer vrijwilligers verhuur cadeaukaart cadeaubon
      kaartverkoop afspraakmaken urenregistratie servicepunt melding meldingen storingen bestelportaal dealerportaal
      leveranciersportaal zelfbediening kennisbank handleiding raad gemeente mijngemeente ouderportaal ouders magister
      elo smartschool osiris zorgportaal patientenportaal mijndossier verwijzers huurders makelaar woningaanbod
      verzekeringen schade vacature abonnementen pers afspraak-maken factuur efactuur e-factuur mijnpagina
      inschrijving solliciteren medewerker personeel salaris roosters ondersteuning storing bestandsuitwisseling
      bestel bestellingen inkoop producten retouren retourneren bezorging betalen offerte aanbiedingen partnerportaal
      opleiding leeromgeving leerplatform kaarten reservering tafelreserveren menukaart vakantie persberichten
      vrijwilliger ledenadministratie mijnclub lidworden vereniging wedstrijden nieuw nieuwesite beheerder
      gemeenteraad eloket e-loket digitaalloket denkmee participatie omgevingsplan geoloket afval afvalwijzer erfgoed
      toerisme kinderopvang ouder huren woningen vastgoed meterstanden mijnzorg clientportaal clientenportaal
      huisartsen apotheek zorg verzekeren verzekering schademelden adviseurs intermediair hypotheek pensioen studenten
      studielink studeren proefschriften studentenhuisvesting leerlingen abonnee krant uitzending recepten
      rouwadvertenties weer gids raadsinformatie bestemmingsplan
    `,
  ),
  language(
    // Polish
    'pl',
    'sklep poczta bip rekrutacja szkolenia zamowienia rezerwacje rejestracja pracownik wiadomosci uslugi pobierz',
    `
      praca faktury nowy nowa stara stary kariera pomoc klient klienci ebok panelklienta panel-klienta strefaklienta
      strefa-klienta zgloszenia pliki dokumenty biblioteka mapa mapy hurtownia hurt platforma platformazakupowa
      testowy testowa testy archiwum usosweb usos usosapps apd irk dziekanat wirtualnydziekanat edziekanat
      repozytorium wydawnictwo rejestracja-online erejestracja e-rejestracja epacjent e-pacjent wyniki katalog cennik
      serwis wsparcie mojekonto moje-konto konto logowanie zakupy przetargi zamowieniapubliczne zamowienia-publiczne
      aktualnosci ogloszenia wydarzenia konferencje konkurs konkursy absolwent absolwenci biurokarier wydzial uczelnia
      studenci pracownicy kadry urlopy obieg edok ezd esod epuap eurzad e-urzad um ug mops pup gmina powiat miasto
      turystyka rozklad bilety eboi geodezja edziennik dziennik librus szkola sp1 przedszkole nabor zapisy kursy
      eszkolenia e-szkolenia szkolenie ankieta ankiety zwroty promocja promocje oferta oferty partnerzy dystrybutor
      dostawcy magazyn ksef efaktura e-faktura eplatnosci platnosci oplaty ubezpieczenia kredyty nieruchomosci
      mieszkania zdjecia galeria kamera kamery noclegi hotele restauracja klub gazeta pacjent szpital przychodnia
      predkosc wodociagi energia prad
    `,
  ),
  language(
    // Czech and Slovak
    'cz sk',
    'objednavky rezervace rezervacie skoleni skolenia zakaznik prihlaska dochazka dochadzka jidelna knihovna zamestnanci',
    `
      e-shop obchod posta podpora novy stary novyweb novy-web kariera prace praca faktury fakturace fakturacia klient
      klienti zakaznici klientskazona zakaznickazona muj moj mujucet objednavka registrace registracia napoveda pomoc
      servis reklamace reklamacie dokumenty soubory subory sklad velkoobchod vo cenik cennik nabidka ponuka akce slevy
      soutez sutaz novinky aktuality zpravodaj testovaci vyvoj zaloha zalohy archiv sprava administrace skola skoly
      vyuka kurzy mapy mapa obec mesto urad uredni-deska urednideska podatelna epodatelna spisovka spisovasluzba
      datovaschranka portalobcana portal-obcana obcan zakazky verejnezakazky zmluvy infocentrum turistika vstupenky
      listky kino divadlo kniznica katalog tritius kramerius bakalari bakaweb edupage edookit skolaonline rozvrh
      strava obedy stravovani menza koleje kolej stag is-stag isstag stagweb ais studium prijimacky eprihlaska
      prihlasky absolventi fakulta dekanat fel fit fsv fjfi prf pf ff lf mff fei konference konferencia vydavatelstvi
      repozitar casopis pacient objednani ordinace nemocnice nemocnica lekarna vysledky pojisteni poistenie ubytovani
      ubytovanie fotky fotogalerie galerie
    `,
  ),
  language(
    // Swedish
    'se',
    'minasidor mina-sidor bokning webbutik utbildning kundtjanst anmalan etjanster e-tjanster ansokan webbmail medlemsportal',
    `
      butik webbshop nya gamla ny jobb karriar ledigajobb rekrytering kund kundportal kundportalen kundwebb
      kundservice minsida boka bokningar tidbok tidbokning faktura fakturor efaktura bestall bestallning felanmalan
      arenden arende nyheter nyhetsbrev pressrum intranat insidan inloggning logga-in loggain personal medarbetare lon
      tid tidrapport tidrapportering schema franvaro dokument filer arkiv diarium diariet epost e-post mejl utveckling
      utv acctest acceptanstest driftinfo driftstatus drift enkat enkater foretag leverantor leverantorer
      aterforsaljare produkter katalog reservdelar lager betalning betala tjanster sjalvservice kommun invanare
      medborgare evenemang karta kartor kartan kartportal bibliotek biblioteket bibliotekskatalog kulturskolan skola
      skolan skolportal skolportalen elev elever larare larplattform larportal larportalen kurs kurser studieportal
      studentportalen antagning ladok alumn konferens bostad bostader bostadsko sjukhus vard vardgivare vardcentral
      journalen apotek halsa tandvard bankid siths forsakring elnat energi fjarrvarme avfall vatten bredband stadsnat
      stadsnatet fastighet hyresgast forening medlem medlemmar klubb tavling biljett biljetter tidning bilder bildbank
      bildarkiv visselblasning visselblasare
    `,
  ),
  language(
    // Norwegian and Danish
    'no dk',
    'minside min-side nettbutikk bestilling tilmelding pamelding kundesenter selvbetjening nyhedsbrev opplaering medarbejder ledige-stillinger',
    `
      butikk butik kundeportal kundeportalen kunde kunder kundeservice kundeweb timebestilling tidsbestilling faktura
      efaktura ehf jobb karriere stillinger rekruttering nyheter nyheder nyhetsbrev presse ny nye gammel gamle hjelp
      hjaelp brukerstotte driftstatus driftsstatus drift intranett innsida innsiden ansatt ansatte medarbeider
      personale lon timeregistrering tidsregistrering vagtplan turnus dokumenter filer arkiv innsyn postliste esdh
      epost e-post webpost utvikling utv udvikling testmiljo kurs kurser kursus kompetanse laering laeringsportal
      skjema skjemaer blanket undersokelse statistikk produkter produktkatalog reservedeler lager varer betaling
      gavekort forhandlere leverandorer kommune kart kartportal borger borgerservice innbygger mitid nemlogin idporten
      altinn bankid eboks digitalpost arrangement arrangementer bibliotek biblioteket bibsys oria kulturskole skole
      skoler feide itslearning visma lectio elev elever barnehage studie studier studweb studentweb wiseflow eksamen
      forskning konference konferanse bolig boliger utleie helse sundhed sykehus sygehus lege laege pasient apotek
      forsikring netbank nettbank strom fjernvarme renovasjon affald bredband bredbaand forening medlem medlemmer
      billett billetter billet
    `,
  ),
  language(
    // Finnish
    'fi',
    'verkkokauppa kauppa posti varaus ajanvaraus laskut asiakas asiakasportaali palvelut koulutus rekry kirjasto',
    `
      palvelu sahkoposti uusi vanha tuki asiakaspalvelu asiakkaat oma omat omasivu omatsivut omat-sivut omatili
      asiointi sahkoinenasiointi easiointi varaukset tilavaraus tilavaraukset lasku laskutus verkkolasku tilaus
      tilaukset tyopaikat avoimet-tyopaikat ura uutiset uutiskirje tiedotteet henkilosto henkilokunta tyontekija
      tyoaika tyovuorot palkat palkka matkalaskut dokumentit asiakirjat tiedostot lataukset arkisto kuvat kuvapankki
      galleria kehitys testi testaus hallinta yllapito kirjautuminen tunnistautuminen rekisterointi ilmoittautuminen
      ilmo lomake lomakkeet kysely kyselyt palaute kampanja kampanjat tarjous tarjoukset tuotteet varaosat varasto
      maksu maksut jalleenmyyjat kumppanit hankinnat kunta kaupunki kartta kartat karttapalvelu opaskartta paikkatieto
      paatokset poytakirjat dynasty tweb matkailu tapahtumat kalenteri liput lipunmyynti kirjastot finna
      kansalaisopisto opisto koulu koulut wilma primus kurre peda opetus opiskelija opiskelijat opinto-opas peppi
      weboodi oodi theseus julkaisut tutkimus konferenssi amk asunto vuokra kiinteisto kiinteistot asukas asukkaat
      terveys laakari potilas sairaala apteekki verkkopankki pankki vakuutus sahko kaukolampo netti laajakaista kuitu
      nopeus seura jasen jasenet jasenrekisteri jasensivut lehti nakoislehti ravintola huolto
    `,
  ),
  language(
    // Hungarian
    'hu',
    'webaruhaz webbolt ugyfelkapu ugyfel szamla foglalas allas hirlevel teszt kepzes oktatas ugyfelszolgalat',
    `
      aruhaz levelezes posta webposta uj regi ugyfelek ugyfelportal ugyfelter szamlak szamlazas szamlazo eszamla
      e-szamla karrier allasok munka toborzas hirek sajto belepes regisztracio fiokom idopont idopontfoglalas
      bejelentkezes jelentkezes megrendeles rendeles rendelesek tamogatas segitseg szerviz szolgaltatas hibabejelentes
      hibabejelento hibajegy ugyintezes eugyintezes e-ugyintezes onkormanyzat epapir dokumentumok dokumentum iratok
      iktato fajlok letoltes archivum szerkeszto vezerlopult fejlesztes belso dolgozo dolgozoi munkaido szabadsag
      terkep terkeptar terinformatika turizmus turisztika varos hivatal palyazatok kozbeszerzes jegy jegyek
      jegyvasarlas esemenyek programok naptar konyvtar ekonyvtar katalogus corvina kiado konyv folyoirat repozitorium
      doktori neptun neptunweb hallgato hallgatoi oktato felveteli beiratkozas dekani btk ttk ajk gtk aok kollegium
      hok konferencia iskola suli ovoda naplo enaplo kreta menza ebed etkezes beteg betegportal korhaz rendelo orvos
      lelet eeszt gyogyszertar netbank biztositas hitel penzugy konyveles kerdoiv felmeres nyeremenyjatek akcio akciok
      torzsvasarlo termekek arlista ajanlat ajanlatkeres raktar nagyker beszallito kepek galeria egyesulet szalloda
      ingatlan ingatlanok energia
    `,
  ),
  language(
    // Romanian
    'ro md',
    'programari facturi primarie cariere angajati rezervari comenzi stiri anunturi admitere contulmeu abonati',
    `
      clienti magazin posta facturare factura efactura e-factura cont contul-meu autentificare inregistrare inscrieri
      inscriere programare rezervare comanda oferte oferta suport asistenta ajutor servicii sesizari noutati nou
      locuri-de-munca joburi angajari recrutare salarii pontaj concedii documente fisiere descarcari arhiva
      registratura gestiune stocuri depozit contabilitate plati plata plationline plati-online ghiseul taxe primaria
      consiliu cjudet comuna oras portalcetatean cetatean eservicii e-servicii hotarari hcl monitoruloficial mol
      licitatii achizitii transparenta declaratii harti harta urbanism turism evenimente bilete biblioteca bibl
      editura revista carti doctorat repozitoriu absolventi facultate secretariat studenti studentweb sims ums camine
      cazare cantina conferinte cercetare licenta orar catalogelectronic adservio scoala scoli liceu gradinita elevi
      profesori cursuri instruire pacienti pacient analize rezultate medici spital farmacie sanatate banca credite
      asigurari sondaj sondaje concursuri promotii reduceri fidelitate produse parteneri furnizori distribuitori
      revanzatori retururi livrare curier awb poze galerie imagini ziar abonament imobiliare energie apa autocitire
      testare dezvoltare membri
    `,
  ),
  language(
    // Turkish
    'tr',
    'magaza bayi eposta musteri siparis destek randevu egitim kariyer odeme kutuphane ogrenci',
    `
      e-posta webposta posta yeni eski yenisite yonetim personel ik insankaynaklari basvuru giris hesabim uye
      bayiportal bayi-portal eticaret satis satinalma tedarik ihale teklif fatura efatura e-fatura earsiv eirsaliye
      edefter ebelge muhasebe bordro ebordro pdks tahsilat sanalpos sanal-pos stok depo urun urunler kampanya
      kampanyalar anket talep ariza servis teknikservis yardim yardimmasasi haber haberler duyuru duyurular basin
      ebulten etkinlik takvim bilet rezervasyon otel kargotakip kargo takip arac belge belgeler dokuman evrak ebys
      belgenet dogrulama arsiv yedek gelistirme uzem uzaktanegitim akademik avesis bapsis obs ogrenciisleri sinav
      sonuc dersler mezun mezunlar yemek yemekhane acikerisim yordam dergi yayin tez kongre fakulte iibf fef sbe fbe
      myo bidb rektorluk okul eokul hasta hastane hbys saglik belediye ebelediye e-belediye edevlet kbs imar
      kentrehberi harita cbs nobetcieczane abone enerji internetsube sube sigorta acente qrmenu kamera canliyayin ilan
      hiztesti
    `,
  ),
  language(
    // Russian and Ukrainian
    'ru su by ua kz xn--p1ai',
    'pochta zakaz zakupki oplata vakansii rabota dostavka podderzhka sotrudnik spravka registratura zayavka',
    `
      kabinet novosti sklad lk lkk lk-test magazin msk spb ekb nsk kzn nn krd rnd ufa perm samara chel omsk vrn
      volgograd kazan sochi kiev kyiv lviv odessa dnepr minsk bitrix bitrix24 b24 1c 1c-web web1c 1cweb buh zup kassa
      xn--80a1acny xn--80aairftm xn--j1ab xn--b1amnebsh xn--80aac6chp edo diadoc kontur egais markirovka otdel kadry
      sotrudniki propusk skud sed delo tezis elma zayavki zapis zapis-online poliklinika bolnica analizy apteka
      klinika zdrav bilety afisha katalog prais opt diler partnery tendery torgi akcia akcii opros anketa uslugi
      gosuslugi esia mfc gorod duma obrazovanie karta geoportal turizm biblioteka xn--e1aybc xn--80aimpg xn--80atdl2c
      xn--l1adgmc xn--80aatcn irbis elib jirbis ebs vestnik konferencia dekanat abitur abiturient priem pk raspisanie
      rasp sdo eios distant obuchenie kursy shkola dnevnik arhiv spravochnik ibank dbo statistika lanbilling utm5
      abonent kamery energosbyt vodokanal zhkh poshta dopomoga novyny posluhy osvita vchasno medoc xn--90aiim0b4c
      xn--80aae0aajw6a xn--80adxhks
    `,
  ),
  language(
    // Greek, Croatian, Serbian and Slovenian
    'gr cy hr rs si ba me mk',
    'trgovina prodavnica narudzbe narocila rezervacije knjiznica zaposlitev posao nekretnine grammateia eclass synedria',
    `
      vesti racun moj mojracun korisnici kupci prijava registracija ponuda akcija katalog cjenik podrska pomoc podpora
      servis reklamacije novosti novice vijesti obvestila novi stari posta eposta zaposleni zaposlenici karijera
      natjecaji razpisi eracun e-racun efaktura fiskalizacija placanje evidencija dopust dokumenti urudzbeni
      administracija uprava razvoj testni nabava nabavka dobavljaci veleprodaja narocanje termini zakazivanje
      pacijenti ezdravlje ezdravje bolnica ljekarna opcina obcina opstina egradani egradjani euprava karta zemljevid
      geoportal turizam turizem smjestaj dogodki biblioteka cobiss hrcak repozitorij dabar fakultet studij studomat
      isvu vis upis upisi vpis studenti referat dekanat konferencija ffzg pmf efzg etf ftn fri skola skole sola
      ednevnik e-dnevnik easistent lopolis eucenje e-ucenje eucilnica ucilnica ankete anketa klub clanovi galerija
      kamere osiguranje zavarovanje krediti vodovod nepremicnine mydata timologia pelates ypiresies protokollo irida
      dimos anakoinoseis diavgeia foitites eudoxus vivliothiki kratiseis rantevou astheneis
    `,
  ),
  language(
    // Japanese
    'jp',
    'yoyaku saiyo saiyou kyujin toshokan kaiin nyushi bukken shinsei toiawase zaiko kensaku',
    `
      mypage otoiawase kanri kanrisha gyomu shanai soumu jinji keiri kintai kyuyo meisai seikyu seikyusho juchu hacchu
      hanbai uriage butsuryu souko tenpo honten shiten eigyo kokyaku okyakusama oshirase kouhou shiryo shiryoseikyu
      mitsumori moushikomi touroku annai ninsho kensho kaihatsu honban hoshu kanshi renraku renrakumou anpi
      anpikakunin bousai saigai chizu kanko ryokan onsen fudosan chintai jutaku baibai kuruma shaken buhin ginko hoken
      shoken nenkin shiyakusho shisetsu shisetsu-yoyaku gikai kaigiroku reiki nyusatsu keiyaku shimin kosodate hoiku
      hoikuen youchien kaigo fukushi byoin byouin iryo yakkyoku kenshin kenko gakko gakuen gakusei gakumu kyomu kyoiku
      rishu seiseki shushoku nyugaku dousoukai gakkai kenkyu kenkyusha gyoseki ronbun shuppan shinbun gazou douga
      ongaku honyaku eigo nihongo juku kentei kouza kenshu kojin houjin hikari kaisen jimukyoku jimu keijiban enquete
      furusato tsuhan tokyo osaka nagoya fukuoka sapporo sendai kyoto kobe hokkaido okinawa garoon cybozu desknets
      kintone manaba unipa
    `,
  ),
];

/** One of the signs tells: they are words of one language only. */
function language(tlds: string, signs: string, words: string): Kind {
  const end = tlds
    .split(' ')
    .map((tld) => tld.replaceAll('.', '\\.'))
    .join('|');
  return {
    signs: set(signs),
    needed: 1,
    probes: list(signs).slice(0, MOST_PROBES),
    domains: new RegExp(`\\.(${end})$`),
    names: [...list(signs), ...list(words)],
  };
}
