import { useSignal } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { failure, follow, updatedAt, worker } from './common/fleet-store.ts';
import { lazy } from './common/lazy.tsx';
import { showTexts } from './common/shown-nodes.ts';
import { Silence } from './common/silence.tsx';
import { clusterAddress, CREATE_ADDRESS, fleetAddress, route, SQL_ADDRESS } from './common/route.ts';
import { unfinished } from './common/unfinished.ts';
import { FleetView } from './fleet/fleet-view.tsx';
import './styles.css';
import { texts } from './texts/frame.ts';

const ConnectorView = lazy(() => import('./connector/connector-view.tsx').then((module) => module.ConnectorView));
const CreateView = lazy(() => import('./editor/create-view.tsx').then((module) => module.CreateView));
const ClusterView = lazy(() => import('./cluster/cluster-view.tsx').then((module) => module.ClusterView));
const SqlView = lazy(() => import('./data/sql-view.tsx').then((module) => module.SqlView));

const PLACES = [
  { view: 'fleet', address: fleetAddress(), title: texts.connectors },
  { view: 'create', address: CREATE_ADDRESS, title: texts.create },
  { view: 'sql', address: SQL_ADDRESS, title: texts.sql },
  { view: 'cluster', address: clusterAddress(), title: texts.cluster },
] as const;

function App() {
  const { value } = route;
  const isReadOnly = worker.value?.readOnly === true;
  useArrival(value.view, value.view === 'connector' ? value.name : '');
  return (
    <>
      <a class="skip" href="#content" onClick={focusContent}>
        {texts.skip}
      </a>
      <header>
        <a class="brand" href={fleetAddress()}>
          {texts.title}
        </a>
        <nav aria-label={texts.title}>
          {PLACES.filter(({ view }) => view !== 'create' || !isReadOnly).map(({ view, address, title }) => (
            <a key={view} href={address} aria-current={value.view === view ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <span class="quiet">
          {worker.value?.id} {worker.value === undefined ? '' : `· ${worker.value.version}`}
        </span>
        {isReadOnly ? <span class="quiet">{texts.readOnly}</span> : null}
        <UnfinishedPlaces />
        <Freshness />
      </header>
      <main id="content" tabIndex={-1}>
        <Silence />
        {value.view === 'fleet' ? <FleetView filters={value.filters} /> : null}
        {value.view === 'connector' ? <ConnectorView key={value.name} name={value.name} part={value.part} /> : null}
        {value.view === 'create' ? <CreateView /> : null}
        {value.view === 'sql' ? <SqlView /> : null}
        {value.view === 'cluster' ? <ClusterView part={value.part} /> : null}
      </main>
    </>
  );
}

function focusContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

/** Another view sets the title of the window and takes the focus, like another page. */
function useArrival(view: string, name: string): void {
  const isFirst = useRef(true);
  useEffect(() => {
    const title = PLACES.find((place) => place.view === view)?.title ?? name;
    document.title = `${title} – ${texts.title}`;
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

/** The age of the shown data; screen readers announce a lost connection. */
function Freshness() {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), 1000);
    return () => {
      clearInterval(timer);
    };
  }, []);
  const seconds =
    updatedAt.value === undefined ? undefined : Math.max(0, Math.round((now.value - updatedAt.value) / 1000));
  const { value: problem } = failure;
  return (
    <span class="freshness" role="status">
      {problem === undefined ? '' : <strong class="problem">{problem === 'lost' ? texts.lost : problem} </strong>}
      {seconds === undefined ? '' : texts.updated(seconds)}
    </span>
  );
}

showTexts();
const place = document.getElementById('app');
if (place !== null) render(<App />, place);
void follow();
