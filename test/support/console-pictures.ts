import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { chromiumPath, startBrowser } from '../../plugins/console/test/support/browser.ts';
import { keepingLetters, sinkConfig } from './connectors.ts';
import { KafkaTraffic, type TestMessage } from './kafka-traffic.ts';
import { database, endServices } from './services.ts';
import { SqlClient } from './sql-client.ts';
import { WorkerCluster } from './worker-cluster.ts';

/** Takes the pictures of docs/console.md from two workers with real data (`npm run pictures`). Needs Chromium. */

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const NAME = 'warehouse-orders';
/** The user whom the pictures show. A name that is also the password would be hidden. */
const USER = 'warehouse';
const PASSWORD = 'only for the pictures';
const WIDTH = 1180;
/** How long orders are produced before the first picture is taken. */
const SECONDS = 100;
const PER_SECOND = 400;
/** How long to wait until rates and charts are drawn. */
const SETTLE_MS = 7000;

interface Picture {
  readonly file: string;
  /** The address below `/ui`. */
  readonly address: string;
  readonly height: number;
  /** Text that is on the page when it is complete. */
  readonly text: string;
  /** A button to press before the picture is taken, and the text that appears then. */
  readonly press?: readonly [button: string, text: string];
}

const PICTURES: readonly Picture[] = [
  { file: 'connector', address: `#/connectors/${NAME}`, height: 900, text: 'What happens to a record' },
  { file: 'dead-letters', address: `#/connectors/${NAME}/dead-letters`, height: 760, text: 'numeric field overflow' },
  { file: 'data', address: `#/connectors/${NAME}/data`, height: 700, text: 'customer-' },
  { file: 'configuration', address: `#/connectors/${NAME}/configuration`, height: 760, text: 'connection.url' },
  {
    file: 'offsets',
    address: `#/connectors/${NAME}/offsets`,
    height: 1080,
    text: 'Change the offsets',
    press: ['Preview', 'What would happen'],
  },
  { file: 'cluster', address: '#/cluster', height: 760, text: 'The last rebalances' },
];

/** Returns an order. Some orders have an amount that does not fit its column, or no customer. */
function order(id: number): TestMessage {
  const amount = id % 5000 === 77 ? 12_345_678 : (id % 900) + 0.5;
  const customer = id % 20_000 === 99 ? null : `customer-${String(id % 97)}`;
  return { key: String(id), value: JSON.stringify({ id, customer, amount, card: '4111-1111' }) };
}

function orders(second: number): TestMessage[] {
  const count = PER_SECOND + Math.round(150 * Math.sin(second / 20));
  return Array.from({ length: count }, (_, index) => order(second * 1000 + index));
}

async function takePictures(cluster: WorkerCluster, kafka: KafkaTraffic): Promise<void> {
  const path = chromiumPath();
  if (path === undefined) throw new Error('There is no Chromium on this machine; CHROMIUM may name one');
  const db = await database('warehouse');
  const sql = new SqlClient(db);
  await sql.run(
    'create table orders (id int8 primary key, customer varchar(64) not null, amount numeric(6, 2))',
    `create role ${USER} login superuser password '${PASSWORD}'`,
  );
  await sql.close();
  await Promise.all([kafka.createTopic('orders', 4), kafka.createTopic('orders-dead', 1)]);
  const { rest, url } = cluster.worker(0);
  await rest.create(
    NAME,
    sinkConfig(db, {
      topics: 'orders',
      'connection.user': USER,
      'connection.password': PASSWORD,
      'tasks.max': '4',
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
      'protocol.type': 'struct',
      'table.name.format': 'orders',
      'insert.mode': 'upsert',
      'pk.mode': 'record_value',
      'pk.fields': 'id',
      transforms: 'drop',
      'transforms.drop.type': 'org.apache.kafka.connect.transforms.ReplaceField$Value',
      'transforms.drop.exclude': 'card',
      'degraded.rate': '1000',
      ...keepingLetters('orders-dead'),
    }),
  );
  await rest.untilState(NAME, 'RUNNING', 4);
  const browser = await startBrowser(path);
  try {
    for (let second = 0; second < SECONDS; second += 1) {
      await kafka.produce('orders', orders(second));
      await delay(1000);
    }
    for (const { file, address, height, text, press } of PICTURES) {
      const page = await browser.newPage({ viewport: { width: WIDTH, height } });
      await page.goto(`${url}/ui${address}`);
      await page.getByText(text).first().waitFor();
      await delay(SETTLE_MS);
      if (press !== undefined) {
        await page.getByRole('button', { name: press[0] }).click();
        await page.getByText(press[1]).first().waitFor();
      }
      await page.screenshot({ path: `${FOLDER}console-${file}.png` });
      await page.close();
    }
  } finally {
    await browser.close();
  }
}

const cluster = await WorkerCluster.start(2, { 'offset.flush.interval.ms': '1000' });
try {
  await takePictures(cluster, await KafkaTraffic.shared());
} finally {
  await cluster.discard();
  await endServices();
}
process.exit();
