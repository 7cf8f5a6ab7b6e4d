//! Codes of probes that are taken, and their harmful neighbors.

use super::*;

const NODE: &str =
    "FROM node:20\nENV PORT=3000 HEALTH_PATH=/healthz\nEXPOSE 3000\nCMD [\"node\", \"x.js\"]\n";
const PYTHON: &str = "FROM python:3.12-slim\nENV PORT=8000\nEXPOSE 8000\n# GET /ready answers 200\nCMD [\"python\", \"x.py\"]\n";
const PHP: &str = "FROM php:8.3-apache\nEXPOSE 80\n";
const RUBY: &str = "FROM ruby:3.3\n# /up is the health endpoint\nENV PORT=9292\nEXPOSE 9292\n";

fn judge(file: &str, program: &str, good: &[&str], bad: &[&str]) {
    let view = View::of(file);
    let endpoints = Endpoints::read(&view, &view);
    let flag = match program {
        "python" => "-c",
        "php" => "-r",
        _ => "-e",
    };
    let judged =
        |code: &str| is_probe(&view, &endpoints, program, &[flag.to_owned(), code.to_owned()]);
    for code in good {
        assert!(judged(code), "refused: {code}");
    }
    for code in bad {
        assert!(!judged(code), "accepted: {code}");
    }
}

#[test]
fn only_requests_of_node_to_this_container_are_probes() {
    judge(
        NODE,
        "node",
        &[
            "fetch('http://localhost:3000/').then(r => process.exit(r.ok ? 0 : 1))",
            "fetch('http://localhost:3000/healthz').then(r => { if (!r.ok) throw new Error(r.status) }).catch(() => process.exit(1))",
            "fetch(`http://127.0.0.1:${process.env.PORT}${process.env.HEALTH_PATH}`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))",
            "fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/healthz').then(r => process.exit(r.ok ? 0 : 1))"
                .replace("(process.env.PORT || 3000)", "process.env.PORT")
                .as_str(),
            "require('http').get('http://127.0.0.1:3000', r => process.exit(r.statusCode === 200 ? 0 : 1))",
            "require('node:http').get({host: '127.0.0.1', port: process.env.PORT, path: '/healthz', timeout: 4000}, r => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))",
            "require('http').get('http://localhost:3000/', r => { process.exit(r.statusCode >= 400 ? 1 : 0) }).on('error', () => process.exit(1))",
            "const req = require('http').request({host: 'localhost', port: 3000, path: '/'}, res => { if (res.statusCode === 200) process.exit(0); process.exit(1) }); req.on('error', () => process.exit(1)); req.end()",
            "require('net').connect(3000, '127.0.0.1').on('connect', () => process.exit(0)).on('error', () => process.exit(1))",
        ],
        &[
            "fetch('http://localhost:3000/up').then(r => process.exit(r.ok ? 0 : 1))",
            "fetch('http://localhost:3001/').then(r => process.exit(r.ok ? 0 : 1))",
            "fetch('http://localhost:3000/').catch(() => process.exit(0))",
            "fetch('http://localhost:3000/').then(r => process.exit(r.ok ? 0 : 1)).catch(() => process.exit(0))",
            "fetch('http://localhost:3000/').then(r => process.exit(r.ok ? 0 : 1)).catch(() => {})",
            "fetch('http://localhost:3000/').then(r => process.exit(r.ok ? 1 : 0))",
            "fetch('http://localhost:3000/').then(r => process.exit(r.ok ? 0 : 0)).catch(() => process.exit(1))",
            "fetch('http://localhost:3000/').then(() => process.exit(0)).catch(() => process.exit(1))",
            "fetch('http://localhost:3000/').then(r => { if (r.ok) process.exit(1) })",
            "require('child_process').exec('rm x') || fetch('http://localhost:3000/') || process.exit(1)",
            "fetch('http://localhost:3000.example.com/').then(r => process.exit(r.ok ? 0 : 1))",
            "fetch(`http://localhost:${process.env.ADMIN_PORT}/`).then(r => process.exit(r.ok ? 0 : 1))",
            "fetch('http://localhost:3000/?' + process.env.TOKEN).then(r => process.exit(r.ok ? 0 : 1))",
            "require('http').get({host: '127.0.0.1', port: 443, path: '/'}, r => process.exit(r.statusCode === 200 ? 0 : 1))",
            "require('http').get({host: '127.0.0.1', port: 3000, path: '/admin'}, r => process.exit(r.statusCode === 200 ? 0 : 1))",
            "process.exit(1)",
        ],
    );
}

#[test]
fn only_requests_of_python_to_this_container_are_probes() {
    judge(
        PYTHON,
        "python",
        &[
            "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/ready', timeout=3)",
            "import os, urllib.request as u; u.urlopen(f\"http://127.0.0.1:{os.environ['PORT']}/ready\")",
            "import os, urllib.request; urllib.request.urlopen('http://localhost:' + os.environ.get('PORT', '8000') + '/ready')",
            "import sys, urllib.request; sys.exit(0 if urllib.request.urlopen('http://localhost:8000/').status == 200 else 1)",
            "import http.client; c = http.client.HTTPConnection('127.0.0.1', 8000, timeout=2); c.request('GET', '/ready'); assert c.getresponse().status == 200",
            "import http.client, sys; c = http.client.HTTPConnection('localhost', 8000); c.request('GET', '/'); sys.exit(c.getresponse().status != 200)",
            "import socket; socket.create_connection(('localhost', 8000), 2).close()",
        ],
        &[
            "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health')",
            "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8001/ready')",
            "import http.client; c = http.client.HTTPConnection('127.0.0.1', 8000); c.request('GET', '/ready'); c.getresponse()",
            "import http.client, sys; c = http.client.HTTPConnection('localhost', 8000); c.request('GET', '/'); sys.exit(c.getresponse().status == 200)",
            "import sys, urllib.request; sys.exit(1 if urllib.request.urlopen('http://localhost:8000/').status == 200 else 0)",
            "import sys, urllib.request; urllib.request.urlopen('http://localhost:8000/'); sys.exit(1)"
                .replace("sys.exit(1)", "open('/x')")
                .as_str(),
            "import os; os.system('curl http://localhost:8000/')",
            "import os, urllib.request; urllib.request.urlopen('http://localhost:8000/' + os.environ['SECRET'])",
            "import contextlib, urllib.request; urllib.request.urlopen('http://localhost:8000/')",
        ],
    );
}

#[test]
fn only_requests_of_php_to_this_container_are_probes() {
    judge(
        PHP,
        "php",
        &[
            "exit(@file_get_contents('http://localhost/') === false ? 1 : 0);",
            "exit(file_get_contents('http://127.0.0.1/') ? 0 : 1);",
            "@fsockopen('127.0.0.1', 80) or exit(1);",
            "$f = @fsockopen('localhost', 80, $errno, $errstr, 2); if (!$f) exit(1);",
            "exit(strpos(get_headers('http://127.0.0.1/')[0], '200') === false ? 1 : 0);",
        ],
        &[
            "file_get_contents('http://localhost/');",
            "exit(file_get_contents('http://localhost/') ? 1 : 0);",
            "exit(@file_get_contents('http://localhost/') === false ? 0 : 1);",
            "@fsockopen('127.0.0.1', 8080) or exit(1);",
            "@fsockopen('127.0.0.1', 80) or exit(0);",
            "@fsockopen('db', 80) or exit(1);",
            "exit(file_get_contents('/etc/passwd') ? 0 : 1);",
            "exit(shell_exec('curl http://localhost/') ? 0 : 1);",
        ],
    );
}

#[test]
fn only_requests_of_ruby_to_this_container_are_probes() {
    judge(
        RUBY,
        "ruby",
        &[
            "require 'net/http'; exit Net::HTTP.get_response(URI('http://localhost:9292/up')).is_a?(Net::HTTPSuccess)",
            "exit(Net::HTTP.get_response('127.0.0.1', '/up', ENV['PORT'].to_i).code == '200' ? 0 : 1)",
            "exit Net::HTTP.get_response(URI(\"http://127.0.0.1:#{ENV.fetch('PORT', '9292')}/up\")).is_a?(Net::HTTPSuccess)",
            "URI.open('http://127.0.0.1:9292/up', read_timeout: 3).read",
            "abort unless Net::HTTP.get_response(URI('http://localhost:9292/')).code == '200'",
            "TCPSocket.new('127.0.0.1', 9292).close",
        ],
        &[
            "Net::HTTP.get_response(URI('http://localhost:9292/up'))",
            "Net::HTTP.get_response(URI('http://localhost:9292/up')) rescue nil",
            "exit !Net::HTTP.get_response(URI('http://localhost:9292/up')).is_a?(Net::HTTPSuccess)",
            "Net::HTTP.get_response(URI('http://localhost:9292/up')); exit true",
            "exit Net::HTTP.get_response(URI('http://localhost:3000/up')).is_a?(Net::HTTPSuccess)",
            "exit Net::HTTP.get_response(URI('http://localhost:9292/ping')).is_a?(Net::HTTPSuccess)",
            "abort if Net::HTTP.get_response(URI('http://localhost:9292/')).code == '200'",
            "URI.open('http://127.0.0.1:9292/up', read_timeout: 3).read; system('x')",
            "TCPSocket.new('10.0.0.1', 9292).close",
        ],
    );
}

#[test]
fn the_interpreter_is_called_where_the_image_has_it() {
    let rows = [
        ("gcr.io/distroless/nodejs22-debian12", "/nodejs/bin/node", true),
        ("gcr.io/distroless/nodejs22-debian12", "node", false),
        ("node:20-alpine", "node", true),
        ("node:20-alpine", "/usr/local/bin/node", true),
        ("node:20-alpine", "/nodejs/bin/node", false),
        ("python:3.12-slim", "node", false),
        ("debian:12-slim", "node", false),
    ];
    let code = "fetch('http://localhost:3000/').then(r => process.exit(r.ok ? 0 : 1))";
    for (image, program, is_there) in rows {
        let file = format!("FROM {image}\nEXPOSE 3000\n");
        let view = View::of(&file);
        let endpoints = Endpoints::read(&view, &view);
        let words = ["-e".to_owned(), code.to_owned()];
        assert_eq!(is_probe(&view, &endpoints, program, &words), is_there, "{image} {program}");
    }
}
