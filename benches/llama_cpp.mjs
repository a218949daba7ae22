// llama.cpp through node-llama-cpp, for comparison: `node llama_cpp.mjs MODEL.gguf PROMPT_TOKENS WRITTEN_TOKENS THREADS`.
// Run from a folder where node-llama-cpp is installed. Prints one line of JSON.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";
const rival = process.cwd() + "/node_modules/node-llama-cpp/";
const {getLlama} = await import(pathToFileURL(rival + "dist/index.js").href);
const [file, read, written, threads] = process.argv.slice(2);
const [nRead, nWritten, nThreads] = [read, written, threads].map(Number);

const llama = await getLlama({gpu: false, build: "never", logLevel: "error", maxThreads: nThreads});
const model = await llama.loadModel({modelPath: file});
const context = await model.createContext({contextSize: nRead + nWritten + 64, threads: nThreads, batchSize: 512});
const sequence = context.getSequence();
const sentence = "The controller shall notify the authority of a breach within seventy-two hours of learning of it. ";
const tokens = model.tokenize(sentence.repeat(Math.ceil(nRead / 10))).slice(0, nRead);

async function decode(start, n) {
    let [count, began] = [0, 0];
    for await (const _ of sequence.evaluate(start, {temperature: 0})) {
        // The first token ends the reading; from there on each is written.
        if (count === 0) began = performance.now();
        if (count++ === n) break;
    }
    return n / (performance.now() - began) * 1000;
}

const short = await decode(tokens.slice(0, 16), nWritten);
await sequence.clearHistory();
const began = performance.now();
await sequence.evaluateWithoutGeneratingNewTokens(tokens);
const prefill = nRead / (performance.now() - began) * 1000;
const long = await decode(tokens.slice(-1), nWritten);
const {version} = JSON.parse(readFileSync(rival + "package.json", "utf8"));
console.log(JSON.stringify({rival: `node-llama-cpp ${version}`, prefill, decode: short, decode_after: long}));
process.exit(0);
