// Names of hosts in languages other than English, and in English outside of America. Compiled by hand for this project
// like scan-words.ts, without a look at the zones that recall is measured with.

import { type Kind, list, set } from './scan-kind.ts';

/** How many signs of each language every scan asks for, when the domain may be of any language. */
const MOST_PROBES = 4;

export const LANGUAGES: readonly Kind[] = [
  language(
    // German
    'de at ch li lu',
    'kunden kundenportal bewerbung verwaltung termine mitglieder anmeldung rechnung bestellung lernen umfrage',
    `
      karriere mein presse karriereportal hilfe stellen buchung kunde termin meine bibliothek bewerberportal
      serviceportal mitarbeiter rechnungen schulung akademie terminbuchung gutscheine lieferanten haendler onlineshop
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
      zeitschriften ub schulportal vertretungsplan stundenplan klassenbuch elternportal tvprogramm spielplan archiv
      intern personal geoportal forschung telefon stadt kultur redaktion aboshop leserreisen stellenportal evergabe
      vergabeplattform stiftung ilias evasys studip bewerben tarife dienstplan babygalerie trauerportal formularserver
      ris wawi wahlen urlaub videokonferenz dokumentation testshop testsystem neu alt kundenbereich maklerportal
      geschaeftskunden privatkunden zuweiser materialien produktion fernzugriff technik daten drucker autoren lehrer
      warenwirtschaft ersatzteilshop wartung lohn glasfaser traueranzeigen immobilienmarkt anzeigenmarkt stellenboerse
      aboservice leserservice mediadaten marktplatz zeitung spiele wahl wahlergebnisse ergebnisse branchenbuch
      einweiser befund befundportal pflege pflegeschule labor radiologie frauenklinik krankenhaus spital
      videosprechstunde mvz speiseplan kis blutspende netz netze planauskunft netzauskunft marktpartner energieportal
      emobilitaet leitstelle zaehler stoerungsauskunft edm baeder fahrplan efa fahrinfo parken opus fis hochschulsport
      asta fachschaft rz hrz lehre studieren physik mathe mathematik informatik chemie wiwi medizin psychologie
      flexnow hisqis qisserver lsfserver sprachenzentrum filialen investoren vorsorge berater vermittler
      vermittlerportal baufinanzierung ebics hbci fints evb schadenmeldung kundenzone onlinerechnung verfuegbarkeit
      telefonie telefonanlage sitzungsdienst ratsinformation gremieninfo beteiligungsportal mitmachen friedhof
      wunschkennzeichen standesamt musikschule stadtarchiv petitionen bauen bauportal maengelmelder onlinedienste
      formular ehrenamt klimaschutz umwelt wirtschaft landkreis jugend chor kirchenmusik freizeiten zimmer gaestekarte
      meldeschein tagungen brauerei reisekosten lieferschein sendungsverfolgung spedition dispo fuhrpark fernzugang
      auftrag qm ablage kasse aussendienst werkstatt kundendienst reparatur garantie datenbank anleitungen
      ersatzteilkatalog unterrichtsmaterial buecher leseproben lizenz lizenzen entwickler schulungssystem konferenz
      raumbuchung zertifikate
    `,
  ),
  language(
    // French
    'fr be ch lu mc sn ci ma tn re bzh',
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
      suivi ventes magasins releve chorus syndic rectorat reservation emplois reseau recherche inscription carriere
      formation-continue carto visio actu immo obseques regie moncompteabonne webtv professionnels-sante stages temps
      frais notesdefrais teletravail ressources auteurs enseignants carte etud etu esup-portail donnees necrologie
      avisdedeces bureau acces sav manuels qualite gta gmao rec pprd echanges serveur livres clubabonnes elections
      bourse ifsi ght patient monespacesante labo imagerie pharmacie clinique urgences rendez-vous priserdv
      teleconsultation viatrajectoire compteur compteurs raccordement mobilite astreinte eau travaux horaires
      stationnement velo esup sifac siham pstage hyperplanning iaprimo iaweb theses these scd suaps doctorat physique
      maths histoire informatique medecine dsi drh annuaires listes pedagogie cours examens notes bourses anciens
      agences particuliers entreprises professionnel investisseurs actionnaires credit monetique sips fiducie
      desjardins espaceassure espace-adherent souscription declaration sinistre tarificateur prevoyance clientele
      factureenligne mafacture telephonie fibre eligibilite depannage cadastre cimetiere etatcivil petitions
      budgetparticipatif concertation subventions deliberations gnau cartads cartographie statistiques impots
      legislation elus citoyen patrimoine paroisse diocese chorale jeunesse federation ligue benevoles benevole
      associations resa cartecadeau carte-cadeau brasserie vins cave vitrine panier echantillons pieces-detachees
      garantie badgeuse bulletins expeditions suivicolis suivi-colis transporteurs entrepot accesdistant enseignant
      librairie maj licences bac-a-sable impression sauvegardes transfert reunion compta comptabilite
    `,
  ),
  language(
    // Spanish
    'es mx ar cl pe uy ec ve gt cr py bo do pa cat',
    'tienda correo pruebas proveedores empleo facturacion citas encuestas tramites aulavirtual desarrollo',
    `
      ofertas reservas noticias soporte sistema biblioteca ayuda cursos campusvirtual campus-virtual sede formacion
      empleados facturas eventos portalempleado gestion pedidos mi factura rrhh incidencias trabajaconnosotros
      transparencia sistemas capacitacion catalogo prensa revistas revista pagos facturaelectronica sedeelectronica
      documentos archivos nube matricula egresados alumnos inscripciones docentes repositorio admision posgrado
      congreso turismo compras ventas canaldenuncias canaletico descargas nomina oficinavirtual citaprevia socios
      areaclientes micuenta portalproveedores cliente boletines produccion preproduccion foro aula siu sia
      portalcliente area-clientes areacliente trabaja empleos bolsadetrabajo bolsaempleo seleccion nominas
      distribuidores almacen productos precios cotizador pagosenlinea factura-electronica cfdi efactura promociones
      sorteos puntos devoluciones envios tiendaonline respaldo mesadeayuda mesa-de-ayuda administracion administrador
      contabilidad gestiondocumental firma fichajes control-horario prueba nuevo antiguo calidad jornadas encuesta
      socio colegiados canaldedenuncias sede-electronica registro licitaciones contratacion tributos impuestos
      urbanismo ciudadano ciudadania participa participacion datosabiertos ayuntamiento municipio catastro cultura
      deportes oficina-virtual energia reserva restaurante bono cita cita-previa pacientes paciente resultados
      laboratorio medicos salud clinica seguros mediadores siniestros banca bancaenlinea banca-en-linea inmobiliaria
      alquiler rectorado secretaria secretariavirtual matriculas admisiones profesores estudiantes investigacion
      facultad guarani colegio clasificados suscripciones hemeroteca eltiempo clima envivo recetas residencias comedor
      habitaciones servicios archivo datos inscripcion acceso manuales mapas academico concursos dte guias personas
      empresas inversores formularios videoconferencia remoto autogestion turnos cotizacion convocatorias pqrs
      esquelas especiales diario suscriptores suscripcion logistica seguimiento inventario mantenimiento telefonia
      asistencia vacaciones donar voluntarios autores expedientes licencias fundacion sgd normativa documentacion
      repuestos rastreo portalempleados libros recursos integracion desa pse inmuebles vehiculos suscriptor suscribete
      publicidad anuncios juegos horoscopo loteria elecciones cartelera programacion directo fotos enfermeria farmacia
      teleconsulta historiaclinica portalpaciente portal-paciente portaldelpaciente imagenes radiologia turno
      profesionales distribuidora autoconsumo lecturas medidores reclamos aguas movilidad recarga transporte multas
      academica calificaciones notas horario automatricula aspirantes titulos doctorado tesis bibliotecas pregrado
      extension vinculacion practicas becas sga saes controlescolar serviciosescolares kardex serviciosocial derecho
      medicina ingenieria economia fisica matematicas informatica psicologia ciencias educacion evaluacion
      evaluaciondocente alumno estudiante docente sucursales oficinas empresa inversionistas accionistas fiduciaria
      pymes creditos tarjetas webpay redsys spei bancamovil bancavirtual sucursalvirtual pensiones afiliados polizas
      asegurados corredores soat centralita fibra cobertura boletas comprobantes facturador timbrado facturaweb
      mifactura siigo contpaqi tango declaraciones declaranet denuncias quejas pqr ventanillaunica mesadepartes
      tramitesenlinea visor cementerio padron predial patrimonio tablon perfildelcontratante subastas oposiciones
      subvenciones gaceta estadisticas orfeo quipux pastoral jovenes voluntariado entradas mayoristas serviciotecnico
      posventa recibos planillas viaticos albaranes flota editorial profesorado actualizaciones respaldos salas
    `,
  ),
  language(
    // Italian
    'it ch sm',
    'negozio prenota prenotazioni areariservata fornitori fatture lavoraconnoi areaclienti sondaggi iscrizioni collaudo',
    `
      clienti assistenza servizi prenotazione formazione corsi eventi area-riservata posta riservato fatturazione
      fattura area-clienti biblioteca ordini portale dipendenti lavoro gestionale portaleclienti portalefornitori
      documenti segnalazioni gare trasparenza albofornitori cataloghi catalogo concorsi sviluppo prove nuovo sito
      rivenditori agenti presenze protocollo studenti didattica segreteria registroelettronico referti sportello
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
      assicurazioni pazienti ritirareferti cup medici laboratorio alloggi alunni affitti orario persone dipartimenti
      dati moduli modulistica immobili firma pec mappe cartografia geoportale mobilita manutenzione logistica qualita
      documentazione pratiche bandi fibra centralino conti giochi redazione necrologie pubblicita orientamento
      tirocini aule lezioni iris ugov esse3 sba stampanti zucchetti privati imprese investitori polizze guida paghe
      partecipa ferie garanzie associazioni libreria coll svil remoto accesso-remoto cartellino notespese autori libri
      insegnanti donatori volontariato annunci-immobiliari digitale copiadigitale edizionedigitale palinsesto cucina
      elezioni archiviostorico ospedale asl ausl refertionline referto prenotazionionline cuponline cupweb fse
      fascicolo fascicolosanitario televisita radiologia prontosoccorso vaccinazioni liberaprofessione intramoenia ecm
      medicina reti rete autoletture letture guasti ricarica reperibilita sportelloweb teleriscaldamento trasporti
      multe titulus cineca uniweb servizionline didatticaonline aulaweb aulevirtuali orari appelli borse
      giurisprudenza economia ingegneria lettere fisica matematica informatica psicologia valutazione rubrica
      accademia filiali mutui prestiti titoli fondi cbill fiduciaria pensione polizza agenzie intermediari assicurati
      rimborsi areapersonale telefonia teamsystem inaz mago fattureincloud sdi webpec spid cie firmadigitale sue
      catasto cimiteri petizioni imu tari servizisociali edilizia delibere partecipazione bilancio avvisi
      polizialocale protezionecivile giovani halley parrocchia oratorio tesserati prenotaora cantina buoniregalo
      vendite ingrosso resi postvendita ddt corrieri trasportatori flotta commesse adozioni materiali aggiornamenti
      licenze esercizio contabilita
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
      classificados receitas assinaturas cantina consulta mapas professor docentes recursos certificados certificado
      editais processos contratos servidor nota ri clube empresas investidores assinante central cobertura fibra siga
      prova graduacao posgraduacao agencia agenciavirtual rastreio entregas pontoeletronico assistencia
      assistenciatecnica qualidade manutencao acessoremoto manuais licencas cultura diario sapl folha participa
      fundacao sig documentacao coletor concurso revendedor sgp saude geoportal dados qld prd dsv jornal programacao
      anuncie telemedicina autorizador tiss jornais empregos veiculos assineja clubedoassinante eleicoes esportes
      publicidade laboratorio resultado entregadelaudos portaldomedico corpoclinico prontuario pep enfermagem utentes
      tasy residencia portaldopaciente portaldoprestador portaldobeneficiario leituras avarias saneamento mobilidade
      transportes multas sigrh sigadmin fenix netpa secretariavirtual mestrado bdtd estagio egresso bolsas prograd
      propesq proex proppg extensao rematricula diplomas direito medicina engenharia matematica informatica psicologia
      cpa avaliacao professores portaldoprofessor portalaluno portaleducacional portalacademico totvs rm protheus
      fluig lyceum agencias credito pix tef multibanco mbway investimentos corretor sinistros cotador segurado
      mediadores centraldocliente autoatendimento ixc mkauth hubsoft voalle telefonia pabx nfce cte mdfe sefaz
      notaeletronica cidadao tributos arrecadacao dividaativa pregao frota cemiterios pdm orcamentoparticipativo
      portaldoservidor recadastramento freguesias balcao denuncias paroquia jovens voluntarios associado federacao
      pousada atacado franqueado garantia ferias reembolso viagens transportadora almoxarifado autores livros juridico
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
      rouwadvertenties weer gids raadsinformatie bestemmingsplan onderzoek werken peppol productie toets docent
      docenten energie regio koken winnen fotos familieberichten adverteren adverteerders archieven digitaal telefonie
      glasvezel klantenservice klantenzone betaal ideal afas insite exact telewerken thuiswerken werkplek mijnwerkplek
      tijdregistratie uren parkeren kaart ris notubiz ibabs cultuur jeugd uit uitpas documentatie onderhoud auteurs
      handleidingen garantie groothandel logistiek reserveer vergaderen tst ont magazijn folder subsidies belastingen
      statistiek epd reserveringen steun lid ledenportaal condoleances condoleren banen vacaturebank advertenties
      puzzels digitalekrant uitzendinggemist prijsvraag ziekenhuis zorgverleners verwijzer verwijzersportaal
      zorgdomein radiologie huisartsenpost laboratorium ecd puur hix thuiszorg mijngezondheid patienten kwaliteit
      netbeheer meters meterstand slimmemeter laadpalen zonnepanelen wachtdienst tarieven dienstregeling reisinfo
      reisplanner studie studiegids studiewijzer inschrijvingen stagebureau onderwijs cursussen toledo minerva
      bamaflex ufora dodona somtoday zermelo parnassys alluris eduarte xedule untis webuntis tijdschriften wiskunde
      geneeskunde informatica psychologie particulier bedrijven investeerders beleggen aandeelhouders bancontact
      bankieren mijnpolis polis schademelding declaraties premie pensioenfonds deelnemers werkgevers werkgever
      werkgeversportaal telefooncentrale twinfield yuki robaws facturatie boekhouding administratie salarisstrook
      verlof petities woz digid eherkenning burgerzaken begraafplaatsen kaartviewer vergunningen aanbestedingen
      jongeren wmo stadsarchief politie vrijetijd ocmw zaalverhuur speelpleinwerking kerk parochie koor scouting chiro
      muziekschool lidmaatschap arrangementen brouwerij bezorgen reparatie prikklok zendingen volgen chauffeurs
      boekhandel lesmateriaal licenties koppelingen uitwisseling wachtwoord
    `,
  ),
  language(
    // Polish
    'pl',
    'sklep poczta bip rekrutacja szkolenia zamowienia rezerwacje rejestracja pracownik wiadomosci pobierz',
    `
      uslugi praca faktury nowy nowa stara stary kariera pomoc klient klienci ebok panelklienta panel-klienta
      strefaklienta strefa-klienta zgloszenia pliki dokumenty biblioteka mapa mapy hurtownia hurt platforma
      platformazakupowa testowy testowa testy archiwum usosweb usos usosapps apd irk dziekanat wirtualnydziekanat
      edziekanat repozytorium wydawnictwo rejestracja-online erejestracja e-rejestracja epacjent e-pacjent wyniki
      katalog cennik serwis wsparcie mojekonto moje-konto konto logowanie zakupy przetargi zamowieniapubliczne
      zamowienia-publiczne aktualnosci ogloszenia wydarzenia konferencje konkurs konkursy absolwent absolwenci
      biurokarier wydzial uczelnia studenci pracownicy kadry urlopy obieg edok ezd esod epuap eurzad e-urzad um ug
      mops pup gmina powiat miasto turystyka rozklad bilety eboi geodezja edziennik dziennik librus szkola sp1
      przedszkole nabor zapisy kursy eszkolenia e-szkolenia szkolenie ankieta ankiety zwroty promocja promocje oferta
      oferty partnerzy dystrybutor dostawcy magazyn ksef efaktura e-faktura eplatnosci platnosci oplaty ubezpieczenia
      kredyty nieruchomosci mieszkania zdjecia galeria kamera kamery noclegi hotele restauracja klub gazeta pacjent
      szpital przychodnia predkosc wodociagi energia prad prenumerata bok e-bok ibok reklamacje nekrologi pogoda
      biznes wideo mzk plany wnioski petycje rcp rejestr szkody zdrowie kultura plan-zajec awarie kampus rezerwacja
      grafik optima enova comarch symfonia subiekt ksiegowosc czesci serwisant kontrahent kontrahenci produkcja jakosc
      spedycja awizacje awizacja kurier przesylki sledzenie eprasa e-wydanie telewizja programtv przepisy dziecko
      podroze delegacje horoskop kalendarz kalkulator porady poradnik zasoby slownik ranking sylabus sylabusy
      planzajec plan stypendia akademiki erasmus doktoranci rezerwacjasal egzaminy pbn studia podyplomowe mojelicznik
      salekonferencyjne licznik iboa odczyt odczyty wylaczenia karta cieplo woda odpady smieci harmonogram rozliczenia
      lekarz lekarze badania wyniki-badan wynikibadan raporty apteka amms clininet medicus budzetobywatelski umowy
      konsultacje oswiadczenia sesja esesja rada obsluga radni mieszkaniec kartamieszkanca msip mpzp pulpit zdm ztm
      mpk mosir osir gwarancja mok gok gops cus pcpr teta starostwo dotacje ebank bankowosc polisa simple polisy
      leasing notowania ubezpieczenie zglosszkode egeria edukacja oswiata vulcan uonet synergia przelewy mobidziennik
      lo enabor sekretariat obiady aukcje diecezja fundacja wolontariat skladki czlonkowie sprzedaz
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
      ubytovanie fotky fotogalerie galerie reality predplatne pocasi pocasie inzerce platby dane bazar autobazar
      noviny zpravy spravy casopisy sluzby udrzba dotace granty registr registre zasedacky helios pohoda k2 karat abra
      vema odecty ezak doprava vyroba kvalita vykazy dovolenka ukoly rezervacesal zapisy usneseni mis nis cestovne
      cestaky pobocky prodejny rychlost prodejci dodavatele vraceni mereni poukazy darkovepoukazy rozpocet optika
      participativnirozpocet hlasovanie zavady pripojeni hlaseni rozhlas parkovani farnost poplatky gismapa
      profilzadavatele charita e-zak ginis gordic spolek fluxpam elisa codexis clenove aspi elektrina clenovia teplo
      voda energie dispecink odstavky poruchy vyjadrovani preprava samoodecet ib internetbanking sledovani ebanka
      hypoteky hypoteka vzdelavani uvery sporeni pojistovna vzdelavanie poistovna skody makler evidence poradci
      poradna srovnavac evidencia pacienti objednavani eobjednani spisy laborator lekari smlouvy anketa theses
      zaverecneprace skolici kvalifikacniprace zs ss ostra sps ucitel ucitelia hasici rodice suplovani suplovanie
      skaut znamky vyucba iskola diskuse jidelnicek icanteen stravnik vydani volnamista volna-mista recepty souteze
      denik kultura ekonomika sutaze inzeraty inzercia penzion
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
      bildarkiv visselblasning visselblasare prenumeration annons patienter retur returer larm etidning e-tidning
      vader minnesrum kundzon mitt-konto bestallare diva timeedit kronox tentamen tenta studentkar karen swepub
      kursplan utbildningsplan forskning doktorand medarbetarportalen medarbetarportal primula retendo agresso
      raindance heroma personec unit4 hogia proceedo remiss provsvar mottagning melior cosmic takecare webbtidbok
      bokatid sjukvard sjukresor kvalitetsregister regionen vardsamverkan folktandvarden vardgivarportal oppnadata
      synpunkter verkstad medborgarforslag politiker protokoll sammantraden webbsand bygglov byggnadsnamnd
      oversiktsplan produktion detaljplan upphandling lokaler lokalbokning bokalokal interbok rbok kvalitet forskola
      barnomsorg skolval unikum infomentor vklass schoolsoft dexter avvikelse tempus skola24 skolmat matsedel
      grundskola gymnasiet gymnasieantagning avvikelser vuxenutbildning komvux sfi hemtjanst omsorg procapita platina
      ciceron leverans evolution w3d3 ecos sakermail sefos gis-karta elavtal fordon elpris matare avlasning matvarden
      flytt avbrott avbrottsinfo driftinformation transporter atervinning renhallning va energiportalen internetbank
      internetbanken sparande passage fonder skador skadeanmalan skada forsakringar formedlare bolan fiber
      passersystem webbhotell bredbandskollen hastighet forsamling kyrka stift pastorat hyra gavor skankaoss
      medlemsregister forbundet fack kansli styrelse styrelsen lagenhet stugor stuga konferensbokning presentkort
      butiken butiker kassa tvattstuga
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
      billett billetter billet abonnement eiendom politikk annonse annonser e-avis avis vaer bil kvalitet tilbud spor
      hms avvik fdv innkjop reise ferie fravaer rombooking lokalebooking timer timeliste regnskap okonomi passord
      adgang ansattportal dodsannonser debatt nettv webtv konkurranse arkivet dips cosmic provesvar labportal
      helsenorge tannlege ehandbok eqs tqm maler avlesning aflaesning driftsmelding driftinfo frivillig fibernett
      varme frivillige gravemelding ledningsinfo forsyning forbund minforsyning kraft fagforbund tommekalender
      politisk moteplan tillitsvalgt einnsyn horing medlemsregister dagsorden websak ephorte medlemsnett public360
      p360 menighet sbsys kmd lokalplan sogn kommunekart arealplan gave byggesak weblager filarkiv gaver nabovarsel
      matrikkel hytter temakart vigo barnehager hytte foresatte oppvekst bordbestilling iskole timeplan aula
      netthandel skoleintra fronter returer gymnasium anbud udbud sporing indkob mercell fragt kgv sikkerpost
      sikkermail frakt munin brage produksjon duo cristin eksamensplan produktion inspera mitt verksted studieadmin
      kursuskatalog utdanning vaerksted uddannelse samskipnad kvalitetssystem studentliv phd lan reiseregning boliglan
      pensjon lonnslipp skade skademelding skadeanmeldelse utlegg forsikringer sparing xledger radgiver hastighet
      hastighed tripletex webhotell minkonto unit4 mineside kirke agresso
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
      nopeus seura jasen jasenet jasenrekisteri jasensivut lehti nakoislehti ravintola huolto toimitus tuotanto
      huoltokirja tilaajapalvelu saa digilehti liikunta museo opas kilpailu myymala tietosuoja laatu turvaposti
      turvasahkoposti seuranta palautukset salasana haka tunnus tunnukset lomat tunnit tyoajat tyoajanseuranta
      raportointi toiminta perehdytys kuljetus logistiikka myynti ostot asunnot autot ilmoitukset mediatiedot urheilu
      ruoka reseptit hammashoito neuvola laboratorio tulokset effica apotti lifecare sote omasote hyvinvointi
      seurakunta terveyspalvelut sahkosopimus kulutus mittarit srk hairiot keskeytykset sahkoverkko kirkko lammitys
      vesi vesihuolto jatehuolto lahjoita liittymat muuttoilmoitus kuntalainen lahjoitus aloitteet esityslistat ktweb
      cloudnc katrina lupapiste rakennusvalvonta kaavoitus yhdistys palautepalvelu hankinta tarjouspalvelu kuntarekry
      jarjesto suomifi lomakepalvelu avoindata liitto timmi julius varaamo liikuntapaikat jasenpalvelu varhaiskasvatus
      paivakoti daisy vapaaehtoiset edison lukiot perusopetus ruokalistat ilmoittaudu aromi jamix hellewi mokit museot
      teatteri sidonnaisuudet optima majoitus lukkari lukujarjestys tuudo hotelli oiva opintopolku opinnot
      opintotarjonta lahjakortti pakki tenttiakvaario haku poytavaraus hakijat alumnit ylioppilaskunta julkaisuarkisto
      lounas jultika trepo doria tampuuri utupub harjoittelu valinta lainat procountor rahasto elake vahinkoilmoitus
      maestro vakuutukset sijoitus yritykset yrityspalvelut lemonsoft nopeustesti webhotelli kotisivut liittyma
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
      ingatlan ingatlanok energia ado eado vizmu szerzodes jelenlet munkalap keszlet raktarkeszlet leltar partnerek
      ujsag elofizetes idojaras hirdetesek hasznaltauto lakas szallas szallasfoglalas palyazat kutatas jatek nyeremeny
      etterem asztalfoglalas boltok utalvany szallitas futar csomag nyomkovetes fuvar flotta gyartas termeles minoseg
      karbantartas garancia alkatresz viszontelado kulcssoft kulcs-soft novitax nexon nexonportal forrassql poszeidon
      iratkezeles gazdasagi berszamfejtes beosztas jelszo jelszocsere teremfoglalas halozat targyalo mentes proba eles
      tvmusor kultura gazdasag elofizeto eletmod receptek gasztro utazas szotar tudastar gyaszjelentes egyhaz elo
      betegek elojegyzes haziorvos medsol emedsol gyogyszer plebania ugyelet viz gaz tavho villany meroallas uzemzavar
      ekozmu gyulekezet hulladek rendeletek hirdetmeny hirdetmenyek testulet kepviselo nyilvantartas adomany
      nyilatkozat helyiado ivk eonkormanyzat kozerdeku telepulesrendezes parkolas alapitvany menetrend polgarmester
      kormanyhivatal muvhaz kozadat orarend tanrend tagok etr coospace tantargy szakdolgozat vizsga zarovizsga
      osztondij mtmt tagdij tanulmanyi nyelvvizsga rektori nyelviskola felnottkepzes diak tanar onkentes tanari szulok
      gimnazium ekreta helyettesites etlap ebedrendeles szovetseg ebank karbejelentes biztosito alkusz kgfb nyugdij
      penztar szakszervezet lizing valuta arfolyam sebesseg sebessegteszt sebessegmeres tarhely kamara
    `,
  ),
  language(
    // Romanian
    'ro md',
    'programari facturi primarie cariere angajati rezervari comenzi stiri anunturi admitere contulmeu',
    `
      abonati clienti magazin posta facturare factura efactura e-factura cont contul-meu autentificare inregistrare
      inscrieri inscriere programare rezervare comanda oferte oferta suport asistenta ajutor servicii sesizari noutati
      nou locuri-de-munca joburi angajari recrutare salarii pontaj concedii documente fisiere descarcari arhiva
      registratura gestiune stocuri depozit contabilitate plati plata plationline plati-online ghiseul taxe primaria
      consiliu cjudet comuna oras portalcetatean cetatean eservicii e-servicii hotarari hcl monitoruloficial mol
      licitatii achizitii transparenta declaratii harti harta urbanism turism evenimente bilete biblioteca bibl
      editura revista carti doctorat repozitoriu absolventi facultate secretariat studenti studentweb sims ums camine
      cazare cantina conferinte cercetare licenta orar catalogelectronic adservio scoala scoli liceu gradinita elevi
      profesori cursuri instruire pacienti pacient analize rezultate medici spital farmacie sanatate banca credite
      asigurari sondaj sondaje concursuri promotii reduceri fidelitate produse parteneri furnizori distribuitori
      revanzatori retururi livrare curier awb poze galerie imagini ziar abonament imobiliare energie apa autocitire
      testare dezvoltare membri contracte abonamente anunt publicitate ziarul vremea parola rapoarte vanzari comercial
      achizitie productie calitate mentenanta flota piese garantie garantii reclamatii retur delegatii deconturi
      sedinte salasedinte resurseumane fluturasi condica salarizare wme smartbill charisma socrate seniorerp ciel
      apartamente munca locuridemunca emisiuni retete jocuri voteaza concurs castiga cursvalutar bursa
      programari-online rezultate-analize laborator rca imagistica hipocrate clinici polite dosar dsp cnas polita
      farmacii retetar urgente daune curent gaze apacanal asigurare intreruperi avarii deranjamente pensii racordare
      furnizare distributie viteza salubritate termo consum testviteza autodeservire registru registre gazduire
      petitii declaratie avere reincarcare hotarare dispozitii consiliulocal parohie prefectura judet politialocala
      biserica evidenta starecivila dgaspc donatii impozite taxelocale e-plata doneaza amenzi parcare bilet fundatie
      puz pug cadastru asociatie bugetare bugetareparticipativa proiecte asociatia fonduri seap elicitatie sindicat
      ghiseul-unic infochiosc avizier membrii avizier-electronic situatie scolaritate filiala studii masterat
      doctorate pensiune burse tabere facultati hoteluri rectorat ifrid simpozion rezervari-online colegiu isj ccd
      meniu olimpiada bacalaureat titularizare restaurante profesor parinti elev cardcadou catalog-online carnet
    `,
  ),
  language(
    // Turkish
    'tr',
    'magaza bayi musteri siparis destek randevu egitim kariyer odeme kutuphane ogrenci',
    `
      eposta e-posta webposta posta yeni eski yenisite yonetim personel ik insankaynaklari basvuru giris hesabim uye
      bayiportal bayi-portal eticaret satis satinalma tedarik ihale teklif fatura efatura e-fatura earsiv eirsaliye
      edefter ebelge muhasebe bordro ebordro pdks tahsilat sanalpos sanal-pos stok depo urun urunler kampanya
      kampanyalar anket talep ariza servis teknikservis yardim yardimmasasi haber haberler duyuru duyurular basin
      ebulten etkinlik takvim bilet rezervasyon otel kargotakip kargo takip arac belge belgeler dokuman evrak ebys
      belgenet dogrulama arsiv yedek gelistirme uzem uzaktanegitim akademik avesis bapsis obs ogrenciisleri sinav
      sonuc dersler mezun mezunlar yemek yemekhane acikerisim yordam dergi yayin tez kongre fakulte iibf fef sbe fbe
      myo bidb rektorluk okul eokul hasta hastane hbys saglik belediye ebelediye e-belediye edevlet kbs imar
      kentrehberi harita cbs nobetcieczane abone enerji internetsube sube sigorta acente qrmenu kamera canliyayin ilan
      hiztesti emlak doktor izin puantaj masraf zimmet envanter toplanti sifre isg kalite logo netsis mikro nebim
      canias luca zirve irsaliye sevkiyat lojistik filo uretim bakim iade yedekparca yedek-parca toptan perakende
      magazalar bayilik bayiler kep iys kurumsal kurum kurulum gorev istakip yazilim gazete e-gazete seriilan spor
      ekonomi fotogaleri videogaleri ogretmen canli canli-yayin veli oyun havadurumu lise doviz borsa kolej
      hastarandevu erandevu anaokulu onlinerandevu esonuc dershane sonuclar laboratuvar bireysel doktorlar hekim kredi
      eczane poliklinik hesap enabiz onlineislemler kasko online-islemler islemler police sayac kesinti hasar elektrik
      acenteler dogalgaz su emeklilik aski borcodeme bes tahakkuk abonelik yatirim ebeyanname e-imar hizolcer
      kentrehber rehber altyapi meclis muhtarlik vakif beyazmasa cozummerkezi dernek otobus ulasim sendika ulasimkart
      otopark oda kurslar zabita uyeler sosyalyardim evrakdogrulama uyelik akts aidat bologna ebologna bagis oidb sks
      gonullu bap lojman sabis konukevi yurt ois burs staj proliz aday tanitim webders onkayit kayit ders yatayecis
      lisansustu canliders enstitu hazirlik sanalsinif kys sempozyum tomer etik ubys sem ubis teknokent
    `,
  ),
  language(
    // Russian and Ukrainian
    'ru su by ua kz xn--p1ai',
    'pochta zakaz zakupki oplata vakansii podderzhka sotrudnik spravka zayavka',
    `
      rabota dostavka registratura kabinet novosti sklad lk lkk lk-test magazin msk spb ekb nsk kzn nn krd rnd ufa
      perm samara chel omsk vrn volgograd kazan sochi kiev kyiv lviv odessa dnepr minsk bitrix bitrix24 b24 1c 1c-web
      web1c 1cweb buh zup kassa xn--80a1acny xn--80aairftm xn--j1ab xn--b1amnebsh xn--80aac6chp edo diadoc kontur
      egais markirovka otdel kadry sotrudniki propusk skud sed delo tezis elma zayavki zapis zapis-online poliklinika
      bolnica analizy apteka klinika zdrav bilety afisha katalog prais opt diler partnery tendery torgi akcia akcii
      opros anketa uslugi gosuslugi esia mfc gorod duma obrazovanie karta geoportal turizm biblioteka xn--e1aybc
      xn--80aimpg xn--80atdl2c xn--l1adgmc xn--80aatcn irbis elib jirbis ebs vestnik konferencia dekanat abitur
      abiturient priem pk raspisanie rasp sdo eios distant obuchenie kursy shkola dnevnik arhiv spravochnik ibank dbo
      statistika lanbilling utm5 abonent kamery energosbyt vodokanal zhkh poshta dopomoga novyny posluhy osvita
      vchasno medoc xn--90aiim0b4c xn--80aae0aajw6a xn--80adxhks
    `,
  ),
  language(
    // Greek, Croatian, Serbian and Slovenian
    'gr cy hr rs si ba mk',
    'trgovina prodavnica narudzbe narocila rezervacije knjiznica zaposlitev posao nekretnine grammateia synedria',
    `
      eclass vesti racun moj mojracun korisnici kupci prijava registracija ponuda akcija katalog cjenik podrska pomoc
      podpora servis reklamacije novosti novice vijesti obvestila novi stari posta eposta zaposleni zaposlenici
      karijera natjecaji razpisi eracun e-racun efaktura fiskalizacija placanje evidencija dopust dokumenti urudzbeni
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
  language(
    // Lithuanian
    'lt',
    'savitarna mokymai uzsakymai rezervacija pastas parduotuve darbuotojai klientams naujienos',
    `
      registracija klientas klientai saskaitos darbas karjera pagalba dokumentai dvs dvsis avilys kontora epastas
      e-pastas naujas senas testinis archyvas biblioteka katalogas paslaugos nuotraukos renginiai skelbimai zemelapis
      zemelapiai sandelis apskaita buhalterija rivile pragma atostogos darbolaikas atlyginimai partneriai tiekejai
      platintojai gamyba logistika siuntos transportas servisas apklausa garantija elvis vma studentai studijos
      priemimas apklausos stojimas tvarkarastis tvarkarasciai emokymai mokykla gimnazija akcijos dienynas tamo
      darzelis mokiniai mokytojai konferencijos nuolaidos konferencija mokslas leidykla zurnalai knygos dekanatas
      prekyba bendrabutis kursai epaslaugos e-paslaugos savivaldybe seniunija didmena gyventojai miestas taryba
      viesiejipirkimai pirkimai cvp viesbutis planavimas turizmas bilietai kultura manosodra nariai pacientai
      pacientams ligonine poliklinika vaistine esveikata parapija ipr registratura elektra dujos vanduo siluma
      prisijungimas atliekos deklaravimas rodmenys gedimai mokejimai ebankas greitis paskolos draudimas lizingas
      prenumerata nuoma laikrastis konkursas
    `,
  ),
  language(
    // Latvian and Estonian
    'lv ee',
    'veikals pasutijumi rezervacijas epasts pieteikums koolitus broneerimine iseteenindus veebipood',
    `
      klient epood e-pood klienti klientiem darbs vakances karjera palidziba atbalsts jaunumi jaunais vecais dokumenti
      lietvediba namejs arhivs biblioteka katalogs apmacibas macibas pakalpojumi epakalpojumi e-pakalpojumi rekini
      mans darbinieki darbiniekiem noliktava piegade gramatvediba aptauja akcijas pasts e-pasts dhs uus vana tugi
      arved arve dokumendid dokumendiregister amphora toopakkumised tootajad siseveeb koolitused kursused kool
      raamatukogu minu toetus ladu tootmine kindlustus kvaliteet kaart kaardid kaardirakendus elekter riigihanked
      uudised puhkus tooaeg vesi palk kliendid luis studijas laen studenti uznemsana fakultate skola ilm eklase
      e-klase bernudarzs novads kuulutused pasvaldiba pilseta iepirkumi karte ajaleht turisms pasakumi biletes
      eveseliba kinnisvara pacienti aptieka analizes atkritumi piletid skaititaji apdrosinasana sludinajumi abonesana
      sundmused ois sisseastumine opilased ekool edasimuujad stuudium lasteaed vald linn liikmed evald riks haigla
      kogudus
    `,
  ),
  language(
    // Bulgarian
    'bg',
    'porachki rezervacii novini',
    `
      obuchenie uslugi poshta biblioteka klienti kariera registracia magazin rabota klient podkrepa pomosht nova stara
      arhiv dokumenti delovodstvo akstur eventis spravki sklad otpuski zaplati fakturi efaktura oferti promocii
      katalog partnyori dostavki dostavka servis distributori anketa igra snimki galeria kameri schetovodstvo ajur
      terez microinvest mikroinvest sluzhiteli vhod sait susi studenti priem kandidatstvane razpis razpisi fakultet
      izpiti voda konferencia konferencii toplo izdatelstvo spisanie smetki knigi shkolo uchilishte abonati gimnazia
      dnevnik abonat detskagradina uchiteli abonament uchenici cdo obshtina avarii danaci danak otcheti mdt plashtania
      krediti plashtane eplashtane epay zastrahovki euslugi e-uslugi shteti obs op obiavi profilnakupuvacha targove
      registar imoti registri signali vremeto karti turizam avto sabitia bileti kultura hoteli muzei chitalishte
      restorant pacienti bolnica konkurs mbal dkc laboratoria chlenove rezultati apteka trz zapazichas zapazi-chas
      sapuni napravlenia vik omeks
    `,
  ),
  language(
    // Korean
    'kr',
    'webhard insa hiworks dooray sugang ipsi haksa minwon',
    `
      groupware mis eip kms edms ehr pms gwmail adm hrd mes scm ekp cyber ecampus eclass sportal kor pds dlib
      spamsniper mailscreen terrace ezgw bizbox amaranth duzon douzone icube uwork ep approval eapproval fasoo
      ozreport ubireport crownix rexpert nexacro xplatform websquare tdev mapi mw yeyak reserve dcollection rsv
      eminwon saeol onnara council cybercampus bis sisul tour ocs emr ctl pacs oia his eirb rnd ecrf cts certpia jebo
      cert epaper onair jeungmyeong aod bbs dorm sinmungo daehakwon ems fems bems hts mts ga sfa bokji e-hr srm cti
      edi smartbill etax lll taxbill ebill adms
    `,
  ),
  language(
    // Chinese
    'cn tw hk',
    'oa jwc zhaopin jwxt kaoqin caigou wuliu peixun yonyou kingdee',
    `
      jwglxt xsc xgc xgb xuegong yjs yjsy yjsb zs zsb zsw jyw jiuye rsc renshi cwc caiwu wsbx jf kyc keyan sbc sysb
      gzc zcgl zbb cgb hq houqin jjc xb dwb xcb tzb zzb jiwei sjc gh gonghui tuanwei ltx bwc gjc wsc fzghc xxgk xxhb
      nic wlzx tsg dag xyh xsg jxjy cjxy zzxy wlkt jpkc xk xuanke bysj sy finereport shiyan zhxg fanruan ehall ids
      kefu authserver kf ykt ecard huiyuan wx gys h5 qywx dls dingtalk jxs webvpn bangong cangku zwfw spzx yuyue ggzy
      rsj guahao jyj tijian dangjian u8 ceshi u8c nc houtai k3cloud eas xiazai weaver zhibo ecology emobile luntan
      seeyon landray szb lanling zentao ksxt chandao px
    `,
  ),
  language(
    // Indonesian and Malay
    'id my',
    'simpeg siakad pmb lowongan ppid perpustakaan pendaftaran absensi karyawan layanan',
    `
      jdih lpse sikd simrs eproc jurnal ejurnal ppdb ppdbonline eabsensi e-absensi ekinerja e-kinerja kinerja gaji
      cuti pegawai karir rekrutmen berita pengaduan lapor aduan wbs perizinan dukcapil disdukcapil dinkes disdik
      diskominfo kominfo dishub dpmptsp bappeda bapenda bpkad inspektorat desa sid opendesa satudata srikandi esurat
      e-surat surat persuratan sakip sipd epajak pajak pbb epbb retribusi kuliah daftar registrasi krs siska sisfo
      pelatihan simak sister sia kelas diklat ujian cbt tryout hrmis rapor jadwal skripsi wisuda sebutharga
      tracerstudy beasiswa kemahasiswaan tempahan mahasiswa dosen lppm lpm etempahan spmi akreditasi prosiding slims
      ecuti digilib perpus pascasarjana ekehadiran pasca feb rsud puskesmas kemasukan antrian pasien apotek jawatan
      simpus toko pelanggan tagihan perolehan pembayaran resi koperasi permohonan
    `,
  ),
  language(
    // Vietnamese
    'vn',
    'tuyendung tuyensinh daotao dangky vanban hoadon tintuc khachhang thuvien hotro',
    `
      qlvb dichvucong hddt tracuu congvan nhansu chamcong noibo ioffice eoffice qlcv hscv thudientu hopdong
      hoadondientu tracuuhoadon ketoan bravo thue luong nghiphep baocao thongke quantri quanly hethong khaosat gopy
      hoidap tailieu tai-lieu dulieu saoluu baohanh bao-hanh baogia banhang donhang vanchuyen sanxuat daily doitac
      khuyenmai khuyen-mai tichdiem thanhvien cskh ketqua tuyen-dung vieclam xetnghiem tin-tuc dvc yte motcua egate
      thoitiet phananh congdan raovat ubnd hdnd dulich sokhdt stttt khachsan syt sgddt datphong vnedu sinhvien datve
      qldt dkmh bando dkhp thoikhoabieu quyhoach tkb lichthi capnuoc lichcongtac thionline dien diemthi hoctructuyen
      baohiem khoahoc giaovien nganhang giangvien cuusinhvien bds ctsv saudaihoc hanoi sdh khcn hn tapchi hoithao hcm
      ktx hocphi tphcm nhaphoc benhvien saigon datlich khambenh danang
    `,
  ),
  language(
    // Hebrew, Arabic and Persian
    'il ir ae sa eg',
    'drushim hazmanot talmidim tawzif khadamat murasalat amoozesh sabtenam estekhdam poshtibani',
    `
      golestan sada samad edari edariautomation sida peyk azmoon pajoohesh pazhouhesh ketabkhaneh taghzieh khabgah
      daneshjoo payannameh nashriyeh majale hamayesh karkonan hoghoogh mali anbar foroush kharid monaghese peygiri
      pasokhgoo moshtari moshtarian bimeh nobat behdasht shahrdari sabt akhbar payamak panelsms hamkaran rahkaran
      sepidar didgah farzin amlak tehran mashhad shiraz michlol yedion mashov webtop rishum sifria limudim knasim
      bogrim ovdim hilan maof synel hashavshevet tafnit priority maktaba lakochot majalla sherut tmicha jarida
      tashlumim baladi zimuntorim kupot baladiya meyda absher mechirot machsan qiwa mishlochim zakat hadracha iriya
      fatoora arnona fawateer toshavim chinuch sadad kehila seha trumot chadashot mawared nadlan tawasul bawaba barid
      wazifa shakawa rafid shakwa hajz souq mawaed aqar tadrib tadreeb riyadh taleem jeddah noor qabool dammam tullab
      dubai
    `,
  ),
  language(
    // What is usual in India
    'in',
    'ehrms gst samarth sparsh greythr',
    `
      hrms eoffice payslip etender einvoice ess tenders attendance eprocure pms rti ewaybill netbanking ekyc esic epf
      s4hana keka darwinbox zinghr ramco beehive tallyprime busy tds essl etimetrack cosec gatepass vendorportal
      dealerportal sfa fieldforce gps consignment franchisee payu razorpay billdesk ccavenue bbps ckyc vkyc esign
      aadhaar counselling examcell hallticket admitcard gem vigilance revaluation edistrict eseva naac seva esewa iqac
      scholarship ifms treasury nic grievance epds consumerportal placement newconnection swayam ehospital opd nptel
      hmis tpa vlab epaper hindi koha tamil telugu delnet mumbai blr irins bangalore hyd camu chennai onlinefee pune
      delhi fees noida kolkata studentportal fedena dlt bulksms parents cbse
    `,
  ),
  language(
    // What is usual in Britain, Ireland, Australia, New Zealand and South Africa
    'uk ie au nz za',
    '',
    `
      vle intake sits evision payslips foi counciltax consult haveyoursay enrol parking permits rates rotas housing
      esr sage200 myview itrent mytimetable publicaccess eplanning moderngov clearing systmone emis datix netbank bpay
      nbn timetables enrolments openday sixthform epayslips selfserve democracy committees ctax firmstep achieveforms
      idox civica liquidlogic orchard homechoice ccg ulysses healthroster pronto prontoxi attache chris21 myob aurion
      exonet opera ascender kerridge tradecounter vouchers datracker bursary intramaps learnership ienabler csd
      yoursay giftaid diocese sentral parish seqta vsware syd schoolbox mel kamar bne per sims adl bromcom cbr akl
      parentpay wlg callista chc jnb tafe jhb obituaries cpt dbn loadshedding dub superannuation cork cymraeg cy
    `,
  ),
];

/** One sign is enough: no sign stands in the list of another language. */
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
