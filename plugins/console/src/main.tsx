import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { follow, rows, worker } from './common/fleet-store.ts';
import { followKeys, type KeyWindow } from './common/keys.ts';
import { lazy } from './common/lazy.tsx';
import { showTexts } from './common/shown-nodes.ts';
import { Silence } from './common/silence.tsx';
import { clusterAddress, CREATE_ADDRESS, fleetAddress, SQL_ADDRESS } from './common/addresses.ts';
import { route } from './common/route.ts';
import { unfinished } from './common/unfinished.ts';
import { FleetView } from './fleet/fleet-view.tsx';
import { restoreZone } from './frame/chosen-zone.ts';
import { isLost, Lost, Side } from './frame/freshness.tsx';
import { useWindow } from './frame/window-title.ts';
import { Notices } from './kit/notices.tsx';
import './styles.css';
import { texts } from './texts/frame.ts';

const ConnectorView = lazy(() => import('./connector/connector-view.tsx').then((module) => module.ConnectorView));
const CreateView = lazy(() => import('./editor/create-view.tsx').then((module) => module.CreateView));
const ClusterView = lazy(() => import('./cluster/cluster-view.tsx').then((module) => module.ClusterView));
const SqlView = lazy(() => import('./data/sql-view.tsx').then((module) => module.SqlView));
const KeyWindowView = lazy(() => import('./frame/key-window.tsx').then((module) => module.KeyWindowView));

const PLACES = [
  { view: 'fleet', address: fleetAddress(), title: texts.connectors },
  { view: 'create', address: CREATE_ADDRESS, title: texts.create },
  { view: 'sql', address: SQL_ADDRESS, title: texts.sql },
  { view: 'cluster', address: clusterAddress(), title: texts.cluster },
] as const;

function App() {
  const { value } = route;
  const [open, setOpen] = useState<KeyWindow | undefined>();
  useEffect(() => followKeys(setOpen), []);
  useArrival(value.view, value.view === 'connector' ? value.name : '');
  return (
    <div class={isLost.value ? 'lost' : undefined}>
      <a class="skip" href="#content" onClick={focusContent}>
        {texts.skip}
      </a>
      <Head openWindow={setOpen} />
      <Lost />
      <main id="content" tabIndex={-1}>
        <Silence />
        {value.view === 'fleet' ? <FleetView filters={value.filters} /> : null}
        {value.view === 'connector' ? <ConnectorView key={value.name} name={value.name} part={value.part} /> : null}
        {value.view === 'create' ? <CreateView /> : null}
        {value.view === 'sql' ? <SqlView /> : null}
        {value.view === 'cluster' ? <ClusterView part={value.part} /> : null}
        {value.view === 'unknown' ? <UnknownPage /> : null}
      </main>
      <Notices />
      {open === undefined ? null : <KeyWindowView key={open} window={open} onClose={() => setOpen(undefined)} />}
    </div>
  );
}

function Head({ openWindow }: { readonly openWindow: (window: KeyWindow) => void }) {
  const { view } = route.value;
  const isReadOnly = worker.value?.readOnly === true;
  return (
    <header>
      <a class="brand" href={fleetAddress()}>
        {texts.title}
      </a>
      <Environment />
      <nav aria-label={texts.title}>
        {PLACES.filter((place) => place.view !== 'create' || !isReadOnly).map((place) => (
          <a key={place.view} href={place.address} aria-current={view === place.view ? 'page' : undefined}>
            {place.title}
          </a>
        ))}
      </nav>
      {isReadOnly ? <span class="quiet">{texts.readOnly}</span> : null}
      <UnfinishedPlaces />
      <Side openWindow={openWindow} />
    </header>
  );
}

/** Shows the name of the environment, so that users do not mistake production for another environment. */
function Environment() {
  const title = worker.value?.title ?? '';
  if (title === '') return null;
  return <span class={/prod|live/i.test(title) ? 'environment production' : 'environment'}>{title}</span>;
}

function UnknownPage() {
  return (
    <div class="empty">
      <h1>{texts.unknownPage}</h1>
      <p>
        <a href={fleetAddress()}>{texts.connectors}</a>
      </p>
    </div>
  );
}

function focusContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

/** When the view changes, sets the window title and moves the focus to the view, as a new page would. */
function useArrival(view: string, name: string): void {
  const isFirst = useRef(true);
  useWindow(name === '' ? (PLACES.find((place) => place.view === view)?.title ?? texts.unknownPage) : name, rows.value);
  useEffect(() => {
    if (!isFirst.current) document.getElementById('content')?.focus({ preventScroll: true });
    if (!isFirst.current) scrollTo(0, 0);
    isFirst.current = false;
  }, [view, name]);
}

/** Links to views with unsaved drafts or changes in progress. */
function UnfinishedPlaces() {
  if (unfinished.value.length === 0) return null;
  return (
    <span class="unfinished">
      {texts.unfinished}{' '}
      {unfinished.value.map(({ address, title }) => (
        <a key={address} href={address}>
          {title}
        </a>
      ))}
    </span>
  );
}

showTexts();
restoreZone();
const place = document.getElementById('app');
if (place !== null) render(<App />, place);
void follow();
