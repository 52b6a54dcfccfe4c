//! Variables by which programs are told where to write and what to run.

use super::*;

#[test]
fn e009_a_variable_that_says_where_a_tool_writes_is_a_path_that_is_written() {
    let judge = confined();
    let stopped = [
        "TAR_OPTIONS='-C /etc' tar xf a.tar",
        "TAR_OPTIONS='-vC /etc' tar xf a.tar",
        "TAR_OPTIONS=-P tar xf a.tar",
        "export TAR_OPTIONS='-C /etc'; tar xf a.tar",
        "TAR_OPTIONS=--directory=/etc tar xf a",
        "TAR_OPTIONS=--dir=/etc tar xf a",
        "TAR_OPTIONS=--to-command=sh tar xf a",
        "TF_LOG_PATH=/etc/x TF_LOG=trace terraform plan",
        "TF_DATA_DIR=/etc/x terraform init",
        "GOPATH=/etc/x go install ./...",
        "GOPATH=src:/etc/x go install ./...",
        "env GOPATH=/etc/x go install ./...",
        "export GOPATH=/etc/x; go install ./...",
        "GOPATH=~/go/../.ssh go install ./...",
        "DENO_DIR=/etc/x deno run a.ts",
        "CCACHE_DIR=/etc/x ccache gcc -c a.c",
        "UV_CACHE_DIR=~/.ssh uv sync",
        "XDG_CACHE_HOME=/etc/x make",
        "DESTDIR=/etc make install",
        "CARGO_HOME=/etc/x cargo install a",
        "GOBIN=/etc/x go install ./...",
        "npm_config_prefix=/usr npm install -g a",
        "PIP_TARGET=/usr/lib pip install a",
        "PYTHONPYCACHEPREFIX=/etc/x python3 a.py",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "TAR_OPTIONS=--no-same-owner tar xf a.tar",
        "TAR_OPTIONS='--exclude=.git --owner=0' tar cf a.tar src",
        "TAR_OPTIONS=-v tar xf a.tar",
        "TF_LOG_PATH=terraform.log TF_LOG=trace terraform plan",
        "TF_DATA_DIR=.tf/data terraform init",
        "GOPATH=$HOME/go go build ./...",
        "export GOPATH=$(go env GOPATH); go build ./...",
        "GOPATH=$PWD/.go go build ./...",
        "env GOPATH=$PWD/.go go build ./...",
        "DENO_DIR=.deno deno run a.ts",
        "CCACHE_DIR=~/.ccache ccache gcc -c a.c",
        "CCACHE_DIR=.cache/cc ccache gcc -c a.c",
        "XDG_CACHE_HOME=~/.cache make",
        "DESTDIR=build/root make install",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn e009_a_variable_that_names_a_command_is_that_command() {
    let judge = confined();
    let stopped = [
        "KUBECTL_EXTERNAL_DIFF='cat /home/dev/.ssh/id_rsa' kubectl diff -f a",
        "export KUBECTL_EXTERNAL_DIFF='rm -rf /srv/data'; kubectl diff -f a",
        "CCACHE_PREFIX='rm -rf /srv/data' ccache gcc -c a.c",
        "env KUBECTL_EXTERNAL_DIFF='rm -rf /srv/data' kubectl diff -f a",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "KUBECTL_EXTERNAL_DIFF='diff -u' ls",
        "CCACHE_PREFIX=distcc ccache gcc -c a.c",
        "CC=gcc make",
    ];
    assert_allowed(&judge, &allowed);
}
