import { useSignal } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { ClusterView } from './cluster-view.tsx';
import { lazyConnectorView } from './lazy-view.tsx';
import { failure, follow, updatedAt, worker } from './fleet-store.ts';
import { FleetView } from './fleet-view.tsx';
import { CLUSTER_ADDRESS, fleetAddress, route } from './route.ts';
import './styles.css';
import { texts } from './texts.ts';

function App() {
  const { value } = route;
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
          <a href={fleetAddress()} aria-current={value.view === 'fleet' ? 'page' : undefined}>
            {texts.connectors}
          </a>
          <a href={CLUSTER_ADDRESS} aria-current={value.view === 'cluster' ? 'page' : undefined}>
            {texts.cluster}
          </a>
        </nav>
        <span class="quiet">
          {worker.value?.id} {worker.value === undefined ? '' : `· ${worker.value.version}`}
        </span>
        {worker.value?.readOnly === true ? <span class="quiet">{texts.readOnly}</span> : null}
        <Freshness />
      </header>
      <main id="content" tabIndex={-1}>
        {value.view === 'fleet' ? <FleetView filters={value.filters} /> : null}
        {value.view === 'connector' ? lazyConnectorView(value.name) : null}
        {value.view === 'cluster' ? <ClusterView /> : null}
      </main>
    </>
  );
}

function focusContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

/** How old what is shown is; a lost connection is said aloud. */
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

const place = document.getElementById('app');
if (place !== null) render(<App />, place);
void follow();
