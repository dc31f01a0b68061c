#!/usr/bin/env node
// Replays (or records) REST scenarios against a Kafka Connect worker. See test/golden/cases/README.md.
import http from 'node:http';
import https from 'node:https';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const USAGE = `usage: node replay-scenarios.mjs --base URL --bootstrap HOST:PORT --workdir DIR [options] scenario.json...
  --mode distributed|standalone|all   which scenarios to run (default distributed)
  --worker-group ID                   group.id of the worker (default connect-golden)
  --kafkajs DIR                       folder to resolve kafkajs from (default: current folder)
  --record                            write what the worker answers into the scenario files
  --only TEXT                         only scenarios whose file name or id contains TEXT
  --retry-ms N                        how long a request is repeated while the worker reports a rebalance (default 20000)
  --exact                             the recorded worker's weaknesses are expected too (see README, Improvements)
  --verbose                           one line per passed step too, full diffs`;

function parseArgs(argv) {
  const o = { mode: 'distributed', workerGroup: 'connect-golden', files: [], retryMs: 20000 };
  const take = {
    base: 'base',
    bootstrap: 'bootstrap',
    workdir: 'workdir',
    mode: 'mode',
    'worker-group': 'workerGroup',
    kafkajs: 'kafkajs',
    only: 'only',
    'retry-ms': 'retryMs',
  };
  for (let i = 0; i < argv.length; i++) {
    const a = argv[i];
    if (a === '--record') o.record = true;
    else if (a === '--verbose') o.verbose = true;
    else if (a === '--exact') o.exact = true;
    else if (a === '--help' || a === '-h') {
      console.log(USAGE);
      process.exit(0);
    } else if (a.startsWith('--')) {
      const k = take[a.slice(2)];
      if (!k || i + 1 >= argv.length) {
        console.error(`bad option ${a}\n${USAGE}`);
        process.exit(2);
      }
      o[k] = argv[++i];
    } else o.files.push(a);
  }
  o.retryMs = Number(o.retryMs);
  o.base = (o.base || 'http://127.0.0.1:8083').replace(/\/+$/, '');
  o.bootstrap = o.bootstrap || '127.0.0.1:9092';
  o.workdir = path.resolve(o.workdir || '.');
  if (!o.files.length) {
    console.error(USAGE);
    process.exit(2);
  }
  return o;
}

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const isObj = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
const show = (v) => {
  const s = v === undefined ? '(absent)' : JSON.stringify(v);
  return s.length > 300 ? `${s.slice(0, 300)}...` : s;
};

// ---------------------------------------------------------------- matching
const MATCHERS = new Set(['$any', '$regex', '$unordered', '$contains', '$optional', '$each', '$oneOf', '$parsed']);
const matcherOf = (e) =>
  isObj(e) && Object.keys(e).length >= 1 && MATCHERS.has(Object.keys(e)[0]) ? Object.keys(e)[0] : null;
const TYPES = {
  any: (v) => v !== undefined,
  string: (v) => typeof v === 'string',
  number: (v) => typeof v === 'number',
  int: (v) => Number.isInteger(v),
  boolean: (v) => typeof v === 'boolean',
  object: isObj,
  array: Array.isArray,
  null: (v) => v === null,
};

/** What identifies an element of a list, for readable differences. */
const keyOf = (v) =>
  isObj(v)
    ? (isObj(v.value) && v.value.name) ||
      v.name ||
      v.class ||
      (typeof v.id === 'number' ? v.id : undefined) ||
      undefined
    : undefined;

/** Pushes "path: expected .., got .." lines to out; no line means match. */
function match(e, a, p, out) {
  const m = matcherOf(e);
  if (m) {
    const x = e[m];
    if (m === '$optional') {
      if (a !== undefined) match(x, a, p, out);
      return;
    }
    if (m === '$any') {
      const ok = String(x)
        .split('|')
        .some((t) => TYPES[t] && TYPES[t](a));
      if (!ok) out.push(`${p}: expected any ${x}, got ${show(a)}`);
    } else if (m === '$regex') {
      if (typeof a !== 'string' || !new RegExp(`^(?:${x})$`, 's').test(a))
        out.push(`${p}: expected to match /${x}/, got ${show(a)}`);
    } else if (m === '$oneOf') {
      if (
        !x.some((c) => {
          const o = [];
          match(c, a, p, o);
          return !o.length;
        })
      )
        out.push(`${p}: expected one of ${show(x)}, got ${show(a)}`);
    } else if (m === '$each') {
      if (!Array.isArray(a)) out.push(`${p}: expected an array, got ${show(a)}`);
      else a.forEach((v, i) => match(x, v, `${p}[${i}]`, out));
    } else if (m === '$parsed') {
      let v;
      try {
        v = JSON.parse(a);
      } catch {
        out.push(`${p}: expected JSON text, got ${show(a)}`);
        return;
      }
      match(x, v, `${p}(parsed)`, out);
    } else if (m === '$unordered') {
      if (!Array.isArray(a)) {
        out.push(`${p}: expected an array, got ${show(a)}`);
        return;
      }
      const left = [...a];
      for (const c of x) {
        const i = left.findIndex((v) => {
          const o = [];
          match(c, v, p, o);
          return !o.length;
        });
        if (i >= 0) {
          left.splice(i, 1);
          continue;
        }
        const key = keyOf(c);
        const j = key === undefined ? -1 : left.findIndex((v) => keyOf(v) === key);
        if (j >= 0) match(c, left.splice(j, 1)[0], `${p}{${key}}`, out);
        else out.push(`${p}: no element matches ${show(key === undefined ? c : key)}`);
      }
      if (left.length) out.push(`${p}: unexpected element(s) ${show(left)}`);
    } else if (m === '$contains') {
      if (typeof x === 'string') {
        if (typeof a !== 'string' || !a.includes(x)) out.push(`${p}: expected to contain ${show(x)}, got ${show(a)}`);
      } else if (Array.isArray(x)) {
        if (!Array.isArray(a)) {
          out.push(`${p}: expected an array, got ${show(a)}`);
          return;
        }
        for (const c of x)
          if (
            !a.some((v) => {
              const o = [];
              match(c, v, p, o);
              return !o.length;
            })
          )
            out.push(`${p}: no element matches ${show(c)}, got ${show(a)}`);
      } else {
        if (!isObj(a)) {
          out.push(`${p}: expected an object, got ${show(a)}`);
          return;
        }
        for (const k of Object.keys(x)) match(x[k], a[k], `${p}.${k}`, out);
      }
    }
    return;
  }
  if (Array.isArray(e)) {
    if (!Array.isArray(a)) {
      out.push(`${p}: expected ${show(e)}, got ${show(a)}`);
      return;
    }
    if (e.length !== a.length) out.push(`${p}: expected ${e.length} element(s), got ${a.length}: ${show(a)}`);
    for (let i = 0; i < Math.min(e.length, a.length); i++) match(e[i], a[i], `${p}[${i}]`, out);
    return;
  }
  if (isObj(e)) {
    if (!isObj(a)) {
      out.push(`${p}: expected ${show(e)}, got ${show(a)}`);
      return;
    }
    for (const k of Object.keys(e)) match(e[k], a[k], `${p}.${k}`, out);
    for (const k of Object.keys(a)) if (!(k in e)) out.push(`${p}.${k}: unexpected, got ${show(a[k])}`);
    return;
  }
  if (e !== a) out.push(`${p}: expected ${show(e)}, got ${show(a)}`);
}

/** Keeps the wildcards of the old expectation that still hold, takes everything else from the answer. */
function merge(old, act) {
  const m = matcherOf(old);
  if (m) {
    const o = [];
    match(old, act, '', o);
    return o.length ? act : old;
  }
  if (isObj(old) && isObj(act)) {
    const r = {};
    for (const k of Object.keys(act)) r[k] = k in old ? merge(old[k], act[k]) : act[k];
    for (const k of Object.keys(old)) if (!(k in act) && matcherOf(old[k]) === '$optional') r[k] = old[k];
    return r;
  }
  if (Array.isArray(old) && Array.isArray(act)) return act.map((v, i) => (i < old.length ? merge(old[i], v) : v));
  return act;
}

/** Applies typed wildcards to parts that differ from run to run; used while recording. */
function volatile(v, key, parent) {
  if (
    key === 'worker_id' ||
    key === 'trace' ||
    key === 'documentation' ||
    key === 'commit' ||
    key === 'kafka_cluster_id'
  )
    return { $any: 'string' };
  if (key === 'version' && typeof v === 'string') return { $any: 'string' };
  if (typeof v === 'string' && v.includes('Invalid regex: ')) {
    // what follows is the text of the regex library
    const esc = (x) => x.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const [head, ...rest] = v.split('Invalid regex: ');
    return {
      $regex:
        esc(head) +
        rest
          .map((x) => {
            const m = /\n(?:Invalid value|Missing required|You can also)[^]*$/.exec(x);
            return `Invalid regex: .*${m ? esc(m[0]) : ''}`;
          })
          .join(''),
    };
  }
  if (key === 'last_modified') return v === null ? { $any: 'null|int' } : { $any: 'int' };
  if (isObj(v)) {
    const r = {};
    for (const k of Object.keys(v)) r[k] = volatile(v[k], k, v);
    // converter sections come in the order of a Java hash map
    if (
      Array.isArray(v.configs) &&
      Array.isArray(v.groups) &&
      v.configs.some((c) => /^(key|value|header)\.converter\.(?!plugin\.version)/.test(c.value.name))
    ) {
      r.configs = { $unordered: r.configs };
      r.groups = { $unordered: r.groups };
    }
    if ('order_in_group' in v) r.order = { $optional: { $any: 'int' } }; // releases before 4.2 call it "order"
    if (/plugin\.version$/.test(v.name || '')) {
      if (typeof v.default_value === 'string') r.default_value = { $any: 'string' };
      if ('visible' in v && typeof v.value === 'string') r.value = { $any: 'string|null' };
      if (Array.isArray(v.recommended_values) && v.recommended_values.length)
        r.recommended_values = { $each: { $any: 'string' } };
    } else if (Array.isArray(v.recommended_values) && v.recommended_values.length > 2)
      r.recommended_values = { $contains: v.recommended_values };
    return r;
  }
  if (Array.isArray(v)) return v.map((x) => volatile(x, undefined, v));
  return v;
}

// ---------------------------------------------------------------- placeholders
function makeScope(opt, run, sc) {
  const used = new Map(); // value -> placeholder, for recording
  const value = (ph) => {
    const [k, ...rest] = ph.split(':');
    const arg = rest.join(':');
    if (k === 'run') return run;
    if (k === 'base') return opt.base;
    if (k === 'workerGroup') return opt.workerGroup;
    if (k === 'name') return `g-${run}-${sc.id}${arg ? `-${arg}` : ''}`;
    if (k === 'topic') return `t-${run}-${sc.id}${arg ? `-${arg}` : ''}`;
    if (k === 'file') return path.join(opt.workdir, `f-${run}-${sc.id}${arg ? `-${arg}` : ''}.txt`);
    if (k === 'var' && sc.vars && arg in sc.vars) return subst(sc.vars[arg]);
    if (k === 'uri' && sc.vars && arg in sc.vars) return encodeURIComponent(subst(sc.vars[arg]));
    return undefined;
  };
  const substStr = (s) =>
    s.replace(/\$?\$\{([^}]+)\}/g, (w, ph) => {
      if (w.startsWith('$$')) return value(ph) === undefined ? w : w.slice(1);
      const v = value(ph);
      if (v === undefined) return w;
      if (ph !== 'run') used.set(v, w);
      return v;
    });
  function subst(v) {
    if (typeof v === 'string') return substStr(v);
    if (Array.isArray(v)) return v.map(subst);
    if (isObj(v)) {
      const m = matcherOf(v);
      if (m === '$regex')
        return {
          $regex: v.$regex.replace(/\$\{([^}]+)\}/g, (w, ph) => {
            const x = value(ph);
            return x === undefined ? w : x.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
          }),
        };
      return Object.fromEntries(Object.entries(v).map(([k, x]) => [substStr(k), subst(x)]));
    }
    return v;
  }
  function unsubst(v) {
    if (typeof v === 'string') {
      for (const [val, ph] of [...used.entries()].sort((a, b) => b[0].length - a[0].length))
        if (val) v = v.split(val).join(ph);
      return v;
    }
    if (Array.isArray(v)) return v.map(unsubst);
    if (isObj(v)) return Object.fromEntries(Object.entries(v).map(([k, x]) => [unsubst(k), unsubst(x)]));
    return v;
  }
  function escape(v) {
    // literal text that looks like a placeholder
    if (typeof v === 'string') return v.replace(/\$\{([^}]+)\}/g, (w, ph) => (value(ph) === undefined ? w : `$${w}`));
    if (Array.isArray(v)) return v.map(escape);
    if (isObj(v) && matcherOf(v) !== '$regex')
      return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, escape(x)]));
    return v;
  }
  for (const ph of ['base', 'name', 'topic', 'file']) substStr(`\${${ph}}`);
  used.set(run, '${run}');
  return { subst, unsubst, escape };
}

// ---------------------------------------------------------------- HTTP
function call(base, req) {
  return new Promise((resolve, reject) => {
    const u = new URL(base);
    const qs = req.query
      ? `?${
          typeof req.query === 'string'
            ? req.query
            : Object.entries(req.query)
                .flatMap(([k, v]) =>
                  (Array.isArray(v) ? v : [v]).map((x) => `${encodeURIComponent(k)}=${encodeURIComponent(x)}`),
                )
                .join('&')
        }`
      : '';
    const headers = Object.fromEntries(Object.entries(req.headers || {}).map(([k, v]) => [k.toLowerCase(), v]));
    let payload;
    if (req.rawBody !== undefined) payload = Buffer.from(req.rawBody);
    else if (req.body !== undefined) payload = Buffer.from(JSON.stringify(req.body));
    if (req.body !== undefined && !('content-type' in headers)) headers['content-type'] = 'application/json';
    for (const k of Object.keys(headers)) if (headers[k] === null) delete headers[k];
    if (payload) headers['content-length'] = payload.length;
    else if (!['GET', 'HEAD'].includes(req.method)) headers['content-length'] = 0;
    if (!('accept' in headers)) headers.accept = 'application/json';
    const r = (u.protocol === 'https:' ? https : http).request(
      {
        host: u.hostname,
        port: u.port,
        method: req.method,
        path: u.pathname.replace(/\/$/, '') + req.path + qs,
        headers,
        agent: false,
        timeout: 100000,
      },
      (res) => {
        const parts = [];
        res.on('data', (d) => parts.push(d));
        res.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          let body = text;
          if (text !== '') {
            try {
              body = JSON.parse(text);
            } catch {
              /* plain text */
            }
          }
          resolve({ status: res.statusCode, headers: res.headers, body, empty: text === '', text });
        });
      },
    );
    r.on('timeout', () => r.destroy(new Error('no answer within 100 s')));
    r.on('error', reject);
    r.end(payload);
  });
}

const BUSY = /rebalance|conflicting operation|stale configuration|no known leader/i;
async function callSettled(opt, req, expectBusy) {
  const end = Date.now() + opt.retryMs;
  for (;;) {
    const res = await call(opt.base, req);
    const msg = isObj(res.body) && typeof res.body.message === 'string' ? res.body.message : '';
    if (!expectBusy && (res.status === 409 || res.status === 500) && BUSY.test(msg) && Date.now() < end) {
      await sleep(200);
      continue;
    }
    return res;
  }
}

// ---------------------------------------------------------------- Kafka
// One set of clients per scenario: kafkajs clients that have seen a topic fail for good once it is deleted.
let kafkaP;
const topicsToDelete = new Set();
async function closeKafka() {
  if (kafkaP) {
    const p = kafkaP;
    kafkaP = undefined;
    await (await p).close().catch(() => {});
  }
}
function kafka(opt) {
  kafkaP ??= (async () => {
    process.env.KAFKAJS_NO_PARTITIONER_WARNING = '1';
    const from = [
      opt.kafkajs && path.resolve(opt.kafkajs),
      process.cwd(),
      path.dirname(fileURLToPath(import.meta.url)),
    ].filter(Boolean);
    let file;
    for (const d of from) {
      try {
        file = createRequire(path.join(d, 'x.js')).resolve('kafkajs');
        break;
      } catch {
        try {
          file = createRequire(path.join(d, 'node_modules', 'x.js')).resolve(d);
          break;
        } catch {
          /* next */
        }
      }
    }
    if (!file) throw new Error(`kafkajs not found from ${from.join(', ')}`);
    const mod = await import(pathToFileURL(file));
    const k = mod.default ?? mod;
    const client = new k.Kafka({
      clientId: 'connect-replay',
      brokers: opt.bootstrap.split(','),
      logLevel: k.logLevel.NOTHING,
      retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 4 },
    });
    const admin = client.admin();
    await admin.connect();
    const producer = client.producer({ createPartitioner: k.Partitioners.DefaultPartitioner });
    await producer.connect();
    return {
      client,
      admin,
      producer,
      close: async () => {
        await producer.disconnect();
        await admin.disconnect();
      },
    };
  })();
  return kafkaP;
}
const asBytes = (v) => (v === null || v === undefined ? null : typeof v === 'string' ? v : JSON.stringify(v));
const headerText = (v) =>
  Array.isArray(v)
    ? v.map((x) => (x === null ? null : x.toString()))
    : v === null || v === undefined
      ? null
      : v.toString();

async function consume(opt, c, min) {
  const k = await kafka(opt);
  const end = Date.now() + (c.timeoutMs || 30000);
  const got = [];
  for (;;) {
    const t = await k.admin.fetchTopicMetadata({ topics: [c.topic] }).catch(() => null);
    if (t && t.topics[0] && t.topics[0].partitions.length) break;
    if (Date.now() > end) return got;
    await sleep(300);
  }
  const consumer = k.client.consumer({
    groupId: `replay-${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`,
    maxWaitTimeInMs: 200,
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [c.topic], fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ partition, message }) => {
        const r = {
          key: message.key === null ? null : message.key.toString(),
          value: message.value === null ? null : message.value.toString(),
        };
        if (c.headers)
          r.headers = Object.fromEntries(Object.entries(message.headers || {}).map(([n, v]) => [n, headerText(v)]));
        if (c.partitions) r.partition = partition;
        got.push(r);
      },
    });
    const quiet = c.settleMs ?? 700;
    if (min === 0) await sleep(c.settleMs ?? 2500);
    else while (got.length < min && Date.now() < end) await sleep(50);
    await sleep(min ? quiet : 0);
  } finally {
    await consumer.disconnect().catch(() => {});
  }
  return got;
}
const parseAs = (e, a) => {
  // an expectation written as an object or array is compared with the parsed text
  if (a !== null && e !== null && typeof e === 'object' && !matcherOf(e)) {
    try {
      return JSON.parse(a);
    } catch {
      return a;
    }
  }
  return a;
};

// ---------------------------------------------------------------- steps
const dig = (res, p) => {
  if (p === 'status') return res.status;
  let v = res;
  for (const k of p.split('.')) {
    if (v === null || v === undefined) return undefined;
    v = v[k];
  }
  return v;
};

/**
 * True where the recorded answer is a weakness of the recorded worker and this answer is a clear client error instead:
 * a 500 for the client's own mistake answered 4xx, an HTML error page answered as JSON, a message without the exception class in front.
 */
function isImproved(st, res) {
  const e = st.expect || {};
  const b = res.body;
  if (st.javaOnly && /^\s*<html/i.test(st.observed || '')) return res.status < 500 && (res.status < 300 || isObj(b));
  const clear =
    isObj(b) &&
    b.error_code === res.status &&
    typeof b.message === 'string' &&
    b.message.length > 10 &&
    !/NullPointer|^Cannot invoke|java\.lang/.test(b.message);
  if (!clear) return false;
  if (e.status === 500 && [400, 404, 409].includes(res.status)) return true;
  if (e.status !== res.status) return false;
  if (typeof e.body === 'string' && /^\s*<html/i.test(e.body)) return true;
  if (isObj(e.body) && typeof e.body.message === 'string')
    return (
      e.body.message.replace(/^org\.apache\.kafka\.[\w.]+Exception: /, '') === b.message && e.body.message !== b.message
    );
  return false;
}

async function runStep(opt, st, scope, ctx, raw) {
  const diffs = [];
  if (st.request) {
    const expectBusy = st.expect && st.expect.status === 409 && BUSY.test(JSON.stringify(st.expect.body || ''));
    const res = await callSettled(opt, st.request, expectBusy || st.noRetry);
    const cm = /^\/connectors(?:\/([^/]+)\/config)?\/?$/.exec(st.request.path);
    if (res.status === 201 && cm) ctx.created.add(isObj(res.body) ? res.body.name : '');
    if (opt.record) {
      const e = { status: res.status };
      const old = raw.expect || {};
      if (raw.javaOnly) {
        raw.expect = { status: old.status && matcherOf(old.status) ? old.status : res.status };
        raw.observed = scope.unsubst(
          isObj(res.body) && typeof res.body.message === 'string'
            ? res.body.message.replace(/location='[^']*'/g, "location='...'")
            : res.text.slice(0, 200),
        );
        return diffs;
      }
      const h = {};
      for (const n of ['content-type', 'location'])
        if (n in res.headers) h[n] = merge(old.headers && old.headers[n], scope.unsubst(res.headers[n]));
      if (Object.keys(h).length) e.headers = h;
      if (st.request.method !== 'HEAD') {
        if (res.empty) e.empty = true;
        else {
          const oldBody = old.body === undefined ? undefined : scope.subst(old.body);
          const keep = oldBody !== undefined;
          const fresh = scope.escape(volatile(res.body));
          e.body = scope.unsubst(keep ? mergeRaw(old.body, oldBody, res.body, fresh) : fresh);
        }
      }
      raw.expect = e;
      return diffs;
    }
    const e = st.expect || {};
    if (!opt.exact && isImproved(st, res)) {
      ctx.improved++;
      return diffs;
    }
    if (e.status !== undefined) match(e.status, res.status, 'status', diffs);
    if (st.javaOnly) return diffs.length ? diffs : diffs;
    for (const [n, v] of Object.entries(e.headers || {})) match(v, res.headers[n.toLowerCase()], `header ${n}`, diffs);
    if (e.empty && !res.empty) diffs.push(`body: expected empty, got ${show(res.body)}`);
    if ('body' in e) match(e.body, res.body, 'body', diffs);
    return diffs;
  }
  if (st.await) {
    const end = Date.now() + (st.await.timeoutMs || 30000);
    for (;;) {
      const res = await call(opt.base, {
        method: st.await.method || 'GET',
        path: st.await.path,
        query: st.await.query,
      }).catch((err) => ({ status: 0, body: String(err) }));
      diffs.length = 0;
      for (const [p, v] of Object.entries(st.await.until)) match(v, dig(res, p), p, diffs);
      if (!diffs.length || Date.now() > end) return diffs;
      await sleep(150);
    }
  }
  if (st.createTopic) {
    const k = await kafka(opt);
    const t = typeof st.createTopic === 'string' ? { topic: st.createTopic } : st.createTopic;
    await k.admin.createTopics({
      topics: [
        {
          topic: t.topic,
          numPartitions: t.partitions || 1,
          replicationFactor: 1,
          configEntries: Object.entries(t.config || {}).map(([name, value]) => ({ name, value })),
        },
      ],
      waitForLeaders: true,
    });
    ctx.topics.add(t.topic);
    return diffs;
  }
  if (st.produce) {
    const k = await kafka(opt);
    for (let i = 0; ; i++) {
      try {
        await k.producer.send({
          topic: st.produce.topic,
          acks: -1,
          messages: st.produce.messages.map((m) => ({
            key: asBytes(m.key),
            value: asBytes(m.value),
            headers: m.headers,
            ...(m.partition === undefined ? {} : { partition: m.partition }),
            ...(m.timestamp ? { timestamp: String(m.timestamp) } : {}),
          })),
        });
        break;
      } catch (err) {
        if (i > 5) throw err;
        await sleep(300);
      }
    }
    return diffs;
  }
  if (st.writeFile || st.appendFile) {
    const f = st.writeFile || st.appendFile;
    if (st.writeFile) fs.writeFileSync(f.name, f.content);
    else fs.appendFileSync(f.name, f.content);
    ctx.files.add(f.name);
    return diffs;
  }
  if (st.expectFile) {
    const f = st.expectFile;
    const end = Date.now() + (f.timeoutMs || 30000);
    ctx.files.add(f.name);
    for (;;) {
      diffs.length = 0;
      const c = fs.existsSync(f.name) ? fs.readFileSync(f.name, 'utf8') : undefined;
      if (opt.record && f.content === undefined) {
        if (c !== undefined && c.split('\n').length - 1 >= f.lines) {
          raw.expectFile.content = scope.unsubst(c);
          return diffs;
        }
        if (Date.now() > end) return [`file: got ${show(c)}`];
      } else {
        match(f.content, c, 'file', diffs);
        if (!diffs.length || Date.now() > end) {
          await sleep(f.settleMs || 0);
          return diffs;
        }
      }
      await sleep(100);
    }
  }
  if (st.consume) {
    const c = st.consume;
    const got = await consume(opt, c, (c.expect || []).length || c.count || 0);
    if (opt.record) {
      const es = raw.consume.expect;
      raw.consume.expect = got.map((g, i) => {
        const r = {};
        for (const f of Object.keys(g)) {
          let old = es && es[i] ? es[i][f] : undefined;
          let v = g[f];
          if (c.json && (f === 'value' || f === 'key') && typeof v === 'string') {
            try {
              v = JSON.parse(v);
            } catch {
              /* text */
            }
          }
          if (old !== undefined) v = merge(old, v);
          r[f] = scope.unsubst(v);
        }
        return r;
      });
      return got.length >= (c.count || 0) ? diffs : [`consume: got ${got.length} record(s)`];
    }
    const es = c.expect || [];
    if (got.length !== es.length)
      diffs.push(`consume ${c.topic}: expected ${es.length} record(s), got ${got.length}: ${show(got)}`);
    for (let i = 0; i < Math.min(es.length, got.length); i++)
      for (const f of Object.keys(es[i])) match(es[i][f], parseAs(es[i][f], got[i][f]), `record[${i}].${f}`, diffs);
    return diffs;
  }
  if (st.sleep) {
    await sleep(st.sleep);
    return diffs;
  }
  return [`unknown step kind: ${Object.keys(st).join(',')}`];
}
// like merge, but wildcards are checked after placeholder substitution and kept in their unsubstituted form
function mergeRaw(rawOld, old, act, fresh) {
  if (matcherOf(old)) {
    const o = [];
    match(old, act, '', o);
    if (!o.length) return rawOld;
    console.log(`  note: wildcard ${JSON.stringify(rawOld)} did not match ${show(act)}`);
    return fresh;
  }
  if (matcherOf(fresh)) return fresh;
  if (isObj(old) && isObj(act) && isObj(fresh)) {
    const byVal = Object.keys(rawOld);
    const r = {};
    Object.keys(old).forEach((k, i) => {
      if (k in act) r[k] = mergeRaw(rawOld[byVal[i]], old[k], act[k], fresh[k]);
    });
    for (const k of Object.keys(fresh)) if (!(k in r)) r[k] = fresh[k];
    return r;
  }
  if (Array.isArray(old) && Array.isArray(act) && Array.isArray(fresh))
    return act.map((v, i) => (i < old.length ? mergeRaw(rawOld[i], old[i], v, fresh[i]) : fresh[i]));
  return fresh;
}

async function main() {
  const opt = parseArgs(process.argv.slice(2));
  fs.mkdirSync(opt.workdir, { recursive: true });
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  let improved = 0;
  const run = Date.now().toString(36).slice(-5) + Math.random().toString(36).slice(2, 5);
  for (const file of opt.files) {
    const sc = JSON.parse(fs.readFileSync(file, 'utf8'));
    sc.id ??= path.basename(file, '.json');
    if (opt.mode !== 'all' && (sc.mode || 'distributed') !== opt.mode) {
      skipped++;
      continue;
    }
    if (opt.only && !file.includes(opt.only) && !sc.id.includes(opt.only)) {
      skipped++;
      continue;
    }
    const scope = makeScope(opt, run, sc);
    const ctx = { created: new Set(), topics: new Set(), files: new Set(), improved: 0 };
    const t0 = Date.now();
    for (let i = 0; i < sc.steps.length; i++) {
      const raw = sc.steps[i];
      const id = raw.id || `#${i + 1}`;
      let diffs;
      try {
        let timer;
        const limit = new Promise((_, no) => {
          timer = setTimeout(() => no(new Error('step took more than 120 s')), 120000);
        });
        try {
          diffs = await Promise.race([runStep(opt, scope.subst(raw), scope, ctx, raw), limit]);
        } finally {
          clearTimeout(timer);
        }
      } catch (err) {
        diffs = [`error: ${err.message}`];
      }
      const what = raw.request
        ? `${raw.request.method} ${raw.request.path}${raw.request.query ? `?${typeof raw.request.query === 'string' ? raw.request.query : JSON.stringify(raw.request.query)}` : ''}`
        : Object.keys(raw).find((k) => k !== 'id');
      if (diffs.length) {
        failed++;
        const shown = opt.verbose ? diffs : diffs.slice(0, 4);
        console.log(
          `FAIL ${path.basename(path.dirname(file))}/${path.basename(file)} ${id} (${what}): ${shown.join(' | ')}${diffs.length > shown.length ? ` | and ${diffs.length - shown.length} more` : ''}`,
        );
      } else {
        passed++;
        if (opt.verbose) console.log(`ok   ${path.basename(file)} ${id} (${what})`);
      }
    }
    for (const n of ctx.created) {
      try {
        await callSettled(opt, { method: 'DELETE', path: `/connectors/${encodeURIComponent(n)}` });
      } catch {
        /* worker gone */
      }
    }
    for (const n of ctx.created) {
      for (let i = 0; i < 50; i++) {
        const r = await call(opt.base, { method: 'GET', path: `/connectors/${encodeURIComponent(n)}/status` }).catch(
          () => ({ status: 404 }),
        );
        if (r.status === 404) break;
        await sleep(100);
      }
    }
    for (const t of ctx.topics) topicsToDelete.add(t);
    await closeKafka();
    for (const f of ctx.files) fs.rmSync(f, { force: true });
    if (opt.record) fs.writeFileSync(file, `${JSON.stringify(sc, null, 1)}\n`);
    improved += ctx.improved;
    if (opt.verbose) console.log(`     ${sc.id}: ${Date.now() - t0} ms`);
  }
  if (topicsToDelete.size) {
    const k = await kafka(opt);
    await k.admin.deleteTopics({ topics: [...topicsToDelete] }).catch(() => {});
    await closeKafka();
  }
  if (skipped && opt.verbose) console.log(`${skipped} scenario(s) skipped`);
  if (improved) console.log(`${improved} answered better than recorded (see test/golden/cases/README.md)`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}
main().catch((err) => {
  console.error(err);
  process.exit(2);
});
