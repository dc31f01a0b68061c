// One file, since the suites share three brokers, and files run side by side in processes of their own.
import './brokers/first-start.ts';
import './brokers/killed.ts';
import './brokers/nearest-replica.ts';
import './brokers/unclean-election.ts';
